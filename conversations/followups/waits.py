"""Waiting mode: while a tool's result is awaited the agent answers with what it knows, and no directives are written.

A wait is a row with an end, not a flag: it is open while `ended_at` is null and `until` lies ahead, so it ends even with
every worker dead (W1). Each ends once, by its result, its failure or its time, and each end tells the agent once (W2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from conversations.common.presenters import wait_payload
from conversations.common.queries import open_waits_of
from conversations.followups.proactive import say_proactively
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import Turn, TurnStatus, Wait, WaitOutcome
from conversations.models.event import URGENT, EventType
from jobs.enqueue import JobRequest, enqueue, supersede
from jobs.failpoints import failpoint
from jobs.sweep import sweep_tenants
from projects.common.api_error import ApiError
from tenancy.prepared_queries import PreparedQuery
from tools.engine.validation.options import MAX_MESSAGE_LENGTH

ACTIVATE = "convoagent_activate_waiting_mode"
ENDED = "waiting_ended"
SKIPPED_WAITING = "skipped_waiting"
# What the key of a job says, which is all that a job has to say of why it is there.
AFTER_WAIT = "after_wait"
DEFAULT_SECONDS = 30.0
MAX_SECONDS = 600.0
ANY_TURN = 2_000_000_000

_OVERDUE = """
select distinct organization_id, conversation_id from conversations_wait
where ended_at is null and until <= clock_timestamp() limit 100
"""


def key_after_wait(turn_id: UUID) -> str:
    """The key of the thoughts that are queued for a turn because a wait has ended."""
    return f"thoughts:{turn_id}:{AFTER_WAIT}"


def comes_after_wait(key: str) -> bool:
    """Whether it is such a key."""
    return key.rpartition(":")[2] == AFTER_WAIT


def is_waiting(conversation_id: UUID) -> bool:
    """Whether a result is awaited now."""
    return bool(OPEN(conversation_id))


OPEN = PreparedQuery(lambda conversation: open_waits_of(conversation)[:1], kinds=(UUID,))


def open_wait(
    log: ConversationLog, *, reason: str, seconds: float, turn: Turn | None = None, effect_id: UUID | None = None
) -> Wait:
    """Open a wait for at most `seconds`, in the transaction of what causes it.

    It ends the directives that are being written: they couldn't know the result.
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
    # The customer waits for us now, not we for them.
    log.conversation.follow_up_at = None
    log.add_event(ACTIVATE, payload=wait_payload(wait), type=EventType.WAITING)
    return wait


def end_wait(log: ConversationLog, effect_id: UUID, *, outcome: WaitOutcome, told: str) -> bool:
    """An effect has come to its end: end the wait for it, and let the agent tell `told`, once (W2).

    To be called in the commit of that end. A result that comes after the wait ran out ends no other wait; it is told as a
    late one, once (W3). False: nobody waited for this effect, and nothing was told.
    """
    waits = Wait.objects.filter(conversation=log.conversation, effect_id=effect_id)
    if (wait := waits.filter(ended_at=None).first()) is not None and _end_row(log, wait, outcome):
        _speak_or_think(log, told, {"effect": str(effect_id)})
        return True
    if waits.filter(outcome=WaitOutcome.TIMEOUT, late_at=None).update(late_at=log.now):
        say_proactively(log, told, {"effect": str(effect_id), "is_late": True})
        return True
    return False


def activate(log: ConversationLog, payload: Mapping[str, Any]) -> Wait:
    """Waiting mode by an event, `{"seconds"?, "reason"?}`; a second one prolongs the first. Raises ApiError."""
    seconds = _seconds(payload.get("seconds", DEFAULT_SECONDS))
    standing = open_waits_of(log.conversation.pk).filter(effect_id=None).first()
    if standing is None:
        return open_wait(log, reason=_reason(payload), seconds=seconds)
    standing.until = max(standing.until, log.now + timedelta(seconds=seconds))
    standing.save(update_fields=["until"])
    log.add_event(ACTIVATE, payload=wait_payload(standing), type=EventType.WAITING)
    return standing


def end_activated(log: ConversationLog, payload: Mapping[str, Any]) -> Turn | None:
    """An urgent message has come by an event: it ends the wait that an event opened, and the agent tells it (T24).

    One without words ends the wait too; there is nothing to tell then, and the agent stays silent. Raises ApiError.
    """
    text = _words(payload.get("text", ""))
    waits = Wait.objects.filter(conversation=log.conversation, effect_id=None, ended_at=None)
    ended = [wait for wait in waits if _end_row(log, wait, WaitOutcome.RESULT)]
    details = {key: value for key, value in payload.items() if key != "text"}
    if not text:
        log.add_event(URGENT, payload={**details, "text": "", "told_by": 0})
        if ended and not is_waiting(log.conversation.pk):
            _think(log)
        return None
    say = _speak_or_think if ended else say_proactively
    return say(log, text, details)


def end_overdue_waits() -> None:
    """End what ran out, in all tenants: the sweep's hook. Several at once end each wait once."""
    sweep_tenants(_OVERDUE, _time_out, failed="A wait could not be ended")


def _reason(payload: Mapping[str, Any]) -> str:
    """What is awaited, in plain words: it stands in a prompt as an attribute."""
    words = re.sub(r'["<>\s]+', " ", str(payload.get("reason") or ""))
    return words.strip() or "a result"


def _seconds(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value <= MAX_SECONDS:
        raise ApiError(
            "invalid", f"Write how many seconds to wait: a number up to {MAX_SECONDS:.0f}.", field="payload.seconds"
        )
    return float(value)


def _words(text: Any) -> str:
    if not isinstance(text, str) or len(text) > MAX_MESSAGE_LENGTH:
        raise ApiError(
            "invalid",
            f"Write what the agent is to be told: a text of at most {MAX_MESSAGE_LENGTH:,} characters.",
            field="payload.text",
        )
    return text.strip()


def _time_out(conversation_id: UUID) -> None:
    with open_log(conversation_id) as log:
        overdue = Wait.objects.filter(conversation=log.conversation, ended_at=None, until__lte=log.now)
        for wait in overdue.order_by("opened_at"):
            if _end_row(log, wait, WaitOutcome.TIMEOUT):
                text = f"No result has come in time ({wait.reason}). Say that it takes longer, and promise no result."
                _speak_or_think(log, text, {"effect": str(wait.effect_id) if wait.effect_id else None})


def _end_row(log: ConversationLog, wait: Wait, outcome: WaitOutcome) -> bool:
    """Compare-and-set: whoever comes second ends nothing."""
    if Wait.objects.filter(pk=wait.pk, ended_at=None).update(ended_at=log.now, outcome=outcome) != 1:
        return False
    wait.ended_at, wait.outcome = log.now, outcome
    still = {"waiting": is_waiting(log.conversation.pk)}
    log.add_event(ENDED, payload={**wait_payload(wait), **still}, type=EventType.WAITING)
    failpoint("wait.ended_pre_urgent")
    return True


def _speak_or_think(log: ConversationLog, text: str, details: Mapping[str, Any]) -> Turn | None:
    """Tell the end of a wait. The agent's turn brings new directives; where it says nothing by itself they come alone (W4)."""
    turn = say_proactively(log, text, details)
    if turn is None and not is_waiting(log.conversation.pk):
        _think(log)
    return turn


def _think(log: ConversationLog) -> None:
    newest = Turn.objects.filter(conversation=log.conversation, status=TurnStatus.DONE).order_by("-seq").first()
    if newest is None or log.conversation.directives_turn >= newest.seq:
        return
    conversation = log.conversation
    key = key_after_wait(newest.pk)
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
