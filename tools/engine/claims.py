"""What the agent says is done, held against the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from tools.engine.definition import ActionType
from tools.engine.skills.detect import Rule
from tools.engine.verdicts import Judgement
from tools.models import Effect, EffectState

# An unknown outcome is never told as success (E5).
STANDS_BEHIND = (EffectState.PLANNED, EffectState.SENDING, EffectState.DONE, EffectState.HELD)


# What they have in common is how they are carried out, not what they do: one webhook stands behind no other.
MANNERS = frozenset(action.removeprefix("send_") for action in ActionType)


def unbacked_claims(judgements: Iterable[Judgement], *, conversation_id: UUID) -> list[Judgement]:
    """The verdicts "completed" with no effect of that kind behind them, neither done nor under way; of a tool of the project's
    own with none of that tool.
    """
    claims = [judgement for judgement in judgements if judgement.rule == Rule.COMPLETED]
    if not claims:
        return []
    done = Effect.objects.filter(
        conversation_id=conversation_id, kind__in={claim.tool.kind for claim in claims}, state__in=STANDS_BEHIND
    )
    backed = {_deed(kind, tool) for kind, tool in done.values_list("kind", "tool")}
    return [claim for claim in claims if _deed(claim.tool.kind, claim.tool.name) not in backed]


def _deed(kind: str, tool: str) -> tuple[str, str]:
    return kind, tool if kind in MANNERS else ""
