"""Metrics of turns that ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from conversations.models import Turn, TurnStatus
from telemetry.metrics import FIRST_TOKEN, TURNS

ENDED = frozenset({TurnStatus.DONE, TurnStatus.FAILED, TurnStatus.SUPERSEDED})


@dataclass(frozen=True)
class EndedTurn:
    """The figures of a turn, as they were written. `first_token_seconds` is None for a turn that wasn't streamed."""

    status: str
    origin: str
    tenant: UUID | None
    first_token_seconds: float | None


def ended_turn(turn: Turn) -> EndedTurn | None:
    """The figures of a turn that is over, else None. Later changes of the turn don't change them."""
    if turn.status not in ENDED:
        return None
    first = turn.first_token_at
    waited = (first - turn.created_at).total_seconds() if first and turn.message_id else None
    return EndedTurn(str(turn.status), str(turn.origin), turn.organization_id, waited)


def count_ended_turns(turns: Iterable[EndedTurn]) -> None:
    """Count turns whose end is committed."""
    for turn in turns:
        TURNS.inc(turn.status, turn.origin, tenant=turn.tenant)
        if turn.first_token_seconds is not None:
            FIRST_TOKEN.observe(max(0.0, turn.first_token_seconds), tenant=turn.tenant)
