"""Closing and reopening conversations, and snoozing them until a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.utils.translation import gettext

from conversations.handover.operators import check_own, release, request_again
from conversations.live.event_log import INBOX_REOPENED, SNOOZE_ENDED, ConversationLog, open_log
from conversations.models import Conversation, Event, Message, MessageRole
from conversations.turns.flags import CLEARED, flag_again
from jobs.errors import WrongState
from jobs.sweep import sweep_tenants
from projects.common.api_error import ApiError
from projects.common.translation import lazy
from projects.models import User
from tools.services.support import escalations

CLOSED, SNOOZED = "inbox_closed", "conversation_snoozed"
LONGEST_SNOOZE = timedelta(days=366)
WROTE = lazy("Meanwhile the customer wrote again. Read the message first.")
# Snoozes that have ended, of all tenants.
_ENDED = """
select organization_id, id from conversations_conversation
where snoozed_until <= clock_timestamp() order by snoozed_until limit 100
"""


def close(conversation_id: UUID, *, by: User, seen: int | None = None) -> bool:
    """Take a conversation out of the inbox: its request is resolved, its flag cleared, its operator leaves.

    The agent doesn't write by itself in it. A new message of the customer, or something new that needs a person, brings
    it back. `seen` is the number of the last message that the caller saw. Returns False if it was closed. Raises
    WrongState for another operator's conversation and if the customer wrote since, Conversation.DoesNotExist.
    """
    with open_log(conversation_id) as log:
        conversation = log.conversation
        if conversation.closed_at is not None:
            return False
        check_own(conversation, by)
        _check_seen(conversation, seen)
        if conversation.operator_id is not None:
            release(log)
        settled = _settle(log, by=by)
        conversation.closed_at = log.now
        conversation.snoozed_until = conversation.returned_at = conversation.follow_up_at = None
        log.add_event(CLOSED, payload={**_by(by), **settled})
        return True


def reopen(conversation_id: UUID, *, by: User) -> bool:
    """Bring a closed conversation back, with the request that its closing resolved and the flag that it cleared.

    Nobody has it then: the request waits again. Returns False if it was open. Raises Conversation.DoesNotExist.
    """
    with open_log(conversation_id) as log:
        if log.conversation.closed_at is None:
            return False
        log.conversation.closed_at = None
        log.add_event(INBOX_REOPENED, payload={**_by(by), "reason": "staff"})
        _unsettle(log, by=by)
        return True


def snooze(conversation_id: UUID, until: datetime, *, by: User, seen: int | None = None) -> bool:
    """Take a conversation out of the inbox until a time. It comes back then, or as soon as the customer writes.

    A closed conversation is reopened. Returns False if it was snoozed until then. Raises ApiError for a time that has
    passed or is more than a year away, WrongState if the customer wrote since message `seen`,
    Conversation.DoesNotExist.
    """
    with open_log(conversation_id) as log:
        conversation = log.conversation
        if not log.now < until <= log.now + LONGEST_SNOOZE:
            raise ApiError(
                "invalid_until", gettext("until must be a time within the next year."), field="until", status=422
            )
        if conversation.snoozed_until == until:
            return False
        _check_seen(conversation, seen)
        conversation.snoozed_until = until
        conversation.returned_at = conversation.closed_at = None
        log.add_event(SNOOZED, payload={**_by(by), "until": until.isoformat()})
        return True


def end_snooze(conversation_id: UUID, *, by: User) -> bool:
    """Bring a snoozed conversation back before its time. Returns False if it wasn't snoozed.

    Raises Conversation.DoesNotExist.
    """
    with open_log(conversation_id) as log:
        if log.conversation.snoozed_until is None:
            return False
        log.conversation.snoozed_until, log.conversation.returned_at = None, log.now
        log.add_event(SNOOZE_ENDED, payload={**_by(by), "reason": "staff"})
        return True


def return_snoozed() -> None:
    """Record the snoozes that have ended, in all tenants. Runs as a sweep hook.

    The inbox lists them without it, because it compares `snoozed_until` with the time.
    """
    sweep_tenants(_ENDED, _return, failed="A snoozed conversation did not return")


def _return(conversation_id: UUID) -> None:
    with open_log(conversation_id) as log:
        until = log.conversation.snoozed_until
        if until is None or until > log.now:
            return
        log.conversation.snoozed_until, log.conversation.returned_at = None, until
        log.add_event(SNOOZE_ENDED, payload={"operator": None, "name": "", "reason": "time"})


def _settle(log: ConversationLog, *, by: User) -> dict[str, str]:
    """Resolve what asked for staff's attention in the conversation itself. Returns what it was, for the closing's event."""
    conversation, settled = log.conversation, dict[str, str]()
    request = escalations.open_request(conversation.pk)
    if request is not None and escalations.resolve_request(conversation.pk):
        settled["request"] = str(request.pk)
        log.add_event("escalation_resolved", payload=_by(by))
    if conversation.flag:
        settled["flag"] = conversation.flag
        log.add_event(CLEARED, payload={"reason": conversation.flag, "by": by.name})
        conversation.flag = ""
    return settled


def _unsettle(log: ConversationLog, *, by: User) -> None:
    """Restore what the last closing resolved, unless a newer request or flag has taken its place."""
    closings = Event.objects.filter(conversation=log.conversation, idn=CLOSED).order_by("-seq")
    settled = closings.values_list("payload", flat=True).first() or {}
    if "request" in settled:
        request_again(log, UUID(settled["request"]), by=by)
    if "flag" in settled and not log.conversation.flag:
        flag_again(log, settled["flag"], by=by)


def _check_seen(conversation: Conversation, seen: int | None) -> None:
    if seen is None or seen >= conversation.last_message:
        return
    newer = Message.objects.filter(conversation=conversation, seq__gt=seen, role=MessageRole.USER)
    if newer.exists():
        raise WrongState(WROTE)


def _by(user: User) -> dict[str, object]:
    return {"operator": user.pk, "name": user.name}
