"""Waiting mode: while a tool's result is awaited, the agent answers with what it knows and no directives are written.

A wait is a row with a deadline, not a flag: it is open while `ended_at` is null and `until` lies ahead, so it expires
even if every worker is dead. Each wait ends once, by result, failure or timeout, and the agent is told once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from conversations.common.instructions import TAKES_LONGER
from conversations.common.presenters import wait_payload
from conversations.common.queries import open_waits_of
from conversations.followups.proactive import say_proactively
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import Turn, TurnStatus, Wait, WaitOutcome
from conversations.models.event import URGENT, EventType, UrgentSource
from jobs.enqueue import JobRequest, enqueue, supersede
from jobs.failpoints import failpoint
from jobs.sweep import sweep_tenants
from projects.common.api_error import Unprocessable
from projects.common.numbers import grouped
from tenancy.prepared_queries import PreparedQuery
from tools.engine.validation.options import MAX_MESSAGE_LENGTH

ACTIVATE = "convoagent_activate_waiting_mode"
ENDED = "waiting_ended"
SKIPPED_WAITING = "skipped_waiting"
# The suffix of a job's key that tells why it was queued.
AFTER_WAIT = "after_wait"
DEFAULT_SECONDS = 30.0
MAX_SECONDS = 600.0
ANY_TURN = 2_000_000_000

_OVERDUE = """
select distinct organization_id, conversation_id from conversations_wait
where ended_at is null and until <= clock_timestamp() limit 100
"""


def thoughts_key(turn_id: UUID) -> str:
    """Key of the thoughts job queued for a turn because a wait ended."""
    return f"thoughts:{turn_id}:{AFTER_WAIT}"


def is_after_wait(key: str) -> bool:
    """True if a thoughts job was queued because a wait ended."""
    return key.rpartition(":")[2] == AFTER_WAIT


def is_waiting(conversation_id: UUID) -> bool:
    """True if the conversation has an open wait."""
    return bool(OPEN_WAITS(conversation_id))


OPEN_WAITS = PreparedQuery(lambda conversation: open_waits_of(conversation)[:1], kinds=(UUID,))


def open_wait(
    log: ConversationLog, *, reason: str, seconds: float, turn: Turn | None = None, effect_id: UUID | None = None
) -> Wait:
    """Open a wait of at most `seconds`, in the caller's transaction.

    Supersedes running thoughts jobs: their directives cannot know the result.
    """
    supersede(lane="thoughts", subject_id=log.conversation.pk, before=ANY_TURN, reason=SKIPPED_WAITING)
    wait = Wait.objects.create(
        conversation=log.conversation,
        turn=turn,
        effect_id=effect_id,
        reason=reason[:200],
        opened_at=log.now,
        until=log.now + timedelta(seconds=min(seconds, MAX_SECONDS)),
    )
    # The customer now waits for us, so no follow-up is due.
    log.conversation.follow_up_at = None
    log.add_event(ACTIVATE, payload=wait_payload(wait), type=EventType.WAITING)
    return wait


def end_wait(
    log: ConversationLog,
    effect_id: UUID,
    *,
    outcome: WaitOutcome,
    told: str,
    source: UrgentSource = UrgentSource.TOOL,
    instruction: str = "",
) -> bool:
    """End the wait for a finished effect and tell the agent `told`, with an instruction that no customer may read.
    Return False if nothing was told.

    Call it in the commit that ends the effect. A result after the timeout is told once as late and ends no other wait.
    False means that no wait was opened for this effect, or that its end was told already.
    """
    waits = Wait.objects.filter(conversation=log.conversation, effect_id=effect_id)
    if (wait := waits.filter(ended_at=None).first()) is not None and _end_once(log, wait, outcome):
        _tell_or_think(log, told, {"effect": str(effect_id)}, source=source, instruction=instruction)
        return True
    if waits.filter(outcome=WaitOutcome.TIMEOUT, late_at=None).update(late_at=log.now):
        about = {"effect": str(effect_id), "is_late": True}
        say_proactively(log, told, about, source=source, instruction=instruction)
        return True
    return False


def activate_waiting(log: ConversationLog, payload: Mapping[str, Any]) -> Wait:
    """Open waiting mode by an event `{"seconds"?, "reason"?}`; a second event extends it. Raises ApiError."""
    seconds = _seconds(payload.get("seconds", DEFAULT_SECONDS))
    current = open_waits_of(log.conversation.pk).filter(effect_id=None).first()
    if current is None:
        return open_wait(log, reason=_reason(payload), seconds=seconds)
    current.until = max(current.until, log.now + timedelta(seconds=seconds))
    current.save(update_fields=["until"])
    log.add_event(ACTIVATE, payload=wait_payload(current), type=EventType.WAITING)
    return current


def end_activated_waits(log: ConversationLog, payload: Mapping[str, Any]) -> Turn | None:
    """End the waits that an event opened, because the business sent an urgent message, and let the agent act on it.

    An empty message ends the waits too, but the agent says nothing. Raises ApiError.
    """
    text = _urgent_text(payload)
    waits = Wait.objects.filter(conversation=log.conversation, effect_id=None, ended_at=None)
    ended = [wait for wait in waits if _end_once(log, wait, WaitOutcome.RESULT)]
    details = {key: value for key, value in payload.items() if key != "text"}
    if not text:
        log.add_event(URGENT, payload={**details, "text": "", "told_by": 0})
        if ended and not is_waiting(log.conversation.pk):
            _think(log)
        return None
    say = _tell_or_think if ended else say_proactively
    return say(log, text, details, source=UrgentSource.BUSINESS)


def end_overdue_waits() -> None:
    """End expired waits in all tenants; a sweep hook. Concurrent sweeps end each wait once."""
    sweep_tenants(_OVERDUE, _time_out, failed="A wait could not be ended")


def _reason(payload: Mapping[str, Any]) -> str:
    """The awaited thing, without characters that would break the prompt's XML attribute."""
    words = re.sub(r'["<>\s]+', " ", str(payload.get("reason") or ""))
    return words.strip() or "a result"


def _seconds(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value <= MAX_SECONDS:
        raise Unprocessable(
            "invalid",
            gettext("seconds must be a number above 0 and up to %(max_seconds)s.")
            % {"max_seconds": f"{MAX_SECONDS:.0f}"},
            field="payload.seconds",
        )
    return float(value)


def _urgent_text(payload: Mapping[str, Any]) -> str:
    """The text of an urgent message; empty for an empty payload. A payload under another name would be told to nobody."""
    text = payload.get("text", None if payload else "")
    if not isinstance(text, str) or len(text) > MAX_MESSAGE_LENGTH:
        raise Unprocessable(
            "invalid",
            gettext("text must be a string of at most %(max_message_length)s characters.")
            % {"max_message_length": grouped(MAX_MESSAGE_LENGTH)},
            field="payload.text",
        )
    return text.strip()


def _time_out(conversation_id: UUID) -> None:
    with open_log(conversation_id) as log:
        overdue = Wait.objects.filter(conversation=log.conversation, ended_at=None, until__lte=log.now)
        for wait in overdue.order_by("opened_at"):
            if _end_once(log, wait, WaitOutcome.TIMEOUT):
                text = f"No result has come in time ({wait.reason})."
                about = {"effect": str(wait.effect_id) if wait.effect_id else None}
                _tell_or_think(log, text, about, source=UrgentSource.BUSINESS, instruction=TAKES_LONGER)


def _end_once(log: ConversationLog, wait: Wait, outcome: WaitOutcome) -> bool:
    """Compare-and-set: only the first caller ends the wait."""
    if Wait.objects.filter(pk=wait.pk, ended_at=None).update(ended_at=log.now, outcome=outcome) != 1:
        return False
    wait.ended_at, wait.outcome = log.now, outcome
    still = {"waiting": is_waiting(log.conversation.pk)}
    log.add_event(ENDED, payload={**wait_payload(wait), **still}, type=EventType.WAITING)
    failpoint("wait.ended_pre_urgent")
    return True


def _tell_or_think(
    log: ConversationLog, text: str, details: Mapping[str, Any], *, source: UrgentSource, instruction: str = ""
) -> Turn | None:
    """Tell the agent about the end of a wait. If that starts no turn, queue new directives alone."""
    turn = say_proactively(log, text, details, source=source, instruction=instruction)
    if turn is None and not is_waiting(log.conversation.pk):
        _think(log)
    return turn


def _think(log: ConversationLog) -> None:
    newest = Turn.objects.filter(conversation=log.conversation, status=TurnStatus.DONE).order_by("-seq").first()
    if newest is None or log.conversation.directives_turn >= newest.seq:
        return
    conversation = log.conversation
    key = thoughts_key(newest.pk)
    enqueue(
        [
            JobRequest(
                lane="thoughts",
                project_id=conversation.project_id,
                subject_id=conversation.pk,
                ordinal=newest.seq,
                key=key,
            )
        ]
    )
