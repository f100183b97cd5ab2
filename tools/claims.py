"""What the agent says is done, held against the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from tools.judge import Judgement
from tools.models import Effect, EffectState
from tools.skills.detect import Rule

# An unknown outcome is never told as success (E5).
STANDS_BEHIND = (EffectState.PLANNED, EffectState.SENDING, EffectState.DONE, EffectState.HELD)


def unbacked_claims(judgements: Iterable[Judgement], *, conversation_id: UUID) -> list[Judgement]:
    """The verdicts "completed" with no effect of that kind behind them, neither done nor under way."""
    claims = [judgement for judgement in judgements if judgement.rule == Rule.COMPLETED]
    if not claims:
        return []
    backed = set(
        Effect.objects.filter(
            conversation_id=conversation_id, kind__in={claim.tool.kind for claim in claims}, state__in=STANDS_BEHIND
        ).values_list("kind", flat=True)
    )
    return [claim for claim in claims if claim.tool.kind not in backed]
