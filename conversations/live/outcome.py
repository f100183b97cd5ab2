"""Waiting for the outcome of a turn or of the turn that superseded it."""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import dataclass
from uuid import UUID

from conversations.common.payloads import MessagePayload, OperatorPayload, TurnSummaryPayload
from conversations.common.presenters import message_payload, operator_payload
from conversations.common.turn_detail import turn_summary
from conversations.live.hub import Listener, Room, hub
from conversations.live.stream import EventStream, Frames, StreamCursor
from conversations.models import Turn, TurnStatus
from conversations.models.event import EventType
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

POLL_SECONDS = 3
# A turn superseded by another is followed to that one; superseded by none, the conversation was over.
FINAL = (TurnStatus.DONE, TurnStatus.FAILED, TurnStatus.SUPERSEDED)


@dataclass(frozen=True)
class Outcome:
    """A finished turn, as API payloads. If `is_taken_over`, `operator` answers in place of the agent."""

    turn: TurnSummaryPayload
    reply: MessagePayload | None
    is_taken_over: bool = False
    operator: OperatorPayload | None = None


async def wait_for_outcome(
    organization_id: UUID, conversation_id: UUID, turn_id: UUID, *, seconds: float
) -> Outcome | None:
    """The outcome of the turn, or of the one that superseded it. None on timeout, and if the turn is deleted meanwhile."""
    ends_at = time.monotonic() + seconds
    async with hub().listen(Room(organization_id, conversation_id)) as listener:
        while True:
            try:
                outcome = await in_db(outcome_of, organization_id, turn_id)
            except Turn.DoesNotExist:
                return None
            left = ends_at - time.monotonic()
            if outcome is not None or left <= 0:
                return outcome
            await _next_end(listener, left)


async def _next_end(listener: Listener, left: float) -> None:
    """Return after an event that may have ended a turn, or when the next poll is due."""
    ends_at = time.monotonic() + min(left, POLL_SECONDS)
    while (rest := ends_at - time.monotonic()) > 0:
        entries = await listener.next_within(rest)
        if any(entry["type"] in ("done", "gone") for entry in entries or ()):
            return


def outcome_of(organization_id: UUID, turn_id: UUID) -> Outcome | None:
    """The turn's outcome, or None if it hasn't finished. Follows `superseded_by`. Raises Turn.DoesNotExist."""
    with tenant_tx(organization_id):
        turn = Turn.objects.select_related("reply").get(pk=turn_id)
        while turn.superseded_by_id is not None:
            turn = Turn.objects.select_related("reply").get(pk=turn.superseded_by_id)
        if turn.status not in FINAL:
            return None
        if turn.is_taken_over:
            operator = operator_payload(turn.conversation)
            return Outcome(turn_summary(turn), reply=None, is_taken_over=True, operator=operator)
        return Outcome(turn_summary(turn), reply=message_payload(turn.reply) if turn.reply else None)


async def turn_stream(cursor: StreamCursor, turn_id: UUID) -> Frames:
    """The conversation's frames from the message on, until the turn's reply is complete."""
    async with aclosing(EventStream(cursor).frames()) as stream:
        async for frames in stream:
            yield frames
            is_done = any(frame.event == EventType.DONE for frame in frames)
            if is_done and await in_db(outcome_of, cursor.organization_id, turn_id) is not None:
                return
