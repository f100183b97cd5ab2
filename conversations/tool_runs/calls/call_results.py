"""Results of tool calls, stored with their block."""

from __future__ import annotations

import logging

from django.db.models.functions import Now

from conversations.live.event_log import ConversationLog
from conversations.models import TurnCall
from conversations.models.event import EventType
from tools.engine.execution.outcome import Outcome

logger = logging.getLogger(__name__)


def end_call(
    log: ConversationLog, call: TurnCall, result: str, *, is_error: bool, outcome: Outcome | None = None
) -> None:
    """Store the call's result and publish its block. Errors are logged."""
    if is_error:
        logger.error("%s of turn %s: %s", call.name, call.step.turn_id, result)
    call.result, call.is_error = result, is_error
    if outcome is not None and not is_error:
        call.block = dict(outcome.block) if outcome.block else None
        call.signal = outcome.signal or ""
        call.said = outcome.said
    call.finished_at = log.now
    TurnCall.objects.filter(pk=call.pk).update(
        result=result,
        said=call.said,
        is_error=is_error,
        block=call.block,
        signal=call.signal,
        finished_at=Now(),
    )
    if call.block:
        payload = {"turn": str(call.step.turn_id), "call": str(call.pk), "block": call.block}
        log.add_event("block", payload=payload, type=EventType.BLOCK)
