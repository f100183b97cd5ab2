"""Follow-up timers: the agent writes again if the customer stays silent.

A timer is a column of the conversation: setting and stopping it costs nothing, and every message and every turn clears
it under the conversation's lock. Only the database's clock counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from functools import partial
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import transaction

from conversations.common.channels import follow_up_delay, traits_of
from conversations.common.draft_settings import config_of
from conversations.followups.waits import is_waiting
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import Conversation, ConversationStatus, FollowUp, FollowUpState, Origin, Turn
from conversations.turns.services import has_talked_enough, queue_reply
from jobs.failpoints import failpoint
from jobs.sweep import sweep_tenants
from projects.common.phones import zone_of_number
from projects.models.agent_config import AgentConfig
from tools.models import Effect, EscalationState
from tools.services.support.escalations import open_request

# A timer this late, because no sweep ran, is recorded as missed.
MAX_LATE = timedelta(hours=1)
# Messengers whose chats are named by the customer's number.
NUMBERED = frozenset({"twilio", "whatsapp"})
GOODBYE = "end_conversation_tool"

_DUE = """
select organization_id, id from conversations_conversation
where follow_up_at <= clock_timestamp() order by follow_up_at limit 100
"""


def next_follow_up(
    log: ConversationLog, config: AgentConfig, *, after: Turn, since: datetime | None = None
) -> datetime | None:
    """When the agent writes again if the customer stays silent. None if it will not, or a newer turn is queued.

    The silence begins when a reply that is spoken has been heard (`since`).
    """
    conversation = log.conversation
    delay = follow_up_delay(config, conversation.channel)
    is_wanted = (
        conversation.status == ConversationStatus.OPEN
        and conversation.follow_ups < config.follow_up_limit
        and not conversation.is_test
        and conversation.last_turn == after.seq
    )
    if delay is None or not is_wanted:
        return None
    return _after_quiet_hours(conversation, config, at=(since or log.now) + delay)


def fire_follow_ups() -> None:
    """Fire due timers in all tenants; a sweep hook. Concurrent sweeps fire each timer once."""
    sweep_tenants(_DUE, _fire, failed="A follow-up could not be fired")


def _fire(conversation_id: UUID) -> None:
    """Check again under the lock: a customer message committed first has cleared the timer."""
    failpoint("timer.claimed")
    with open_log(conversation_id) as log:
        conversation, due_at = log.conversation, log.conversation.follow_up_at
        if due_at is None or due_at > log.now:
            return
        conversation.follow_up_at = None
        config = config_of(conversation)
        if log.now - due_at > MAX_LATE:
            _record(log, FollowUpState.MISSED, due_at=due_at, turn=None)
        elif (loud_at := _after_quiet_hours(conversation, config, at=log.now)) > log.now:
            conversation.follow_up_at = loud_at
        elif _is_still_wanted(log, config):
            _queue_follow_up(log, due_at)


def _is_still_wanted(log: ConversationLog, config: AgentConfig) -> bool:
    """True if the settings and the conversation's state still allow a follow-up. None follows a goodbye, and none is
    written to a customer who waits for a person.
    """
    is_allowed = bool(follow_up_delay(config, log.conversation.channel))
    is_allowed = (
        is_allowed and log.conversation.status == ConversationStatus.OPEN and log.conversation.operator_id is None
    )
    is_allowed = is_allowed and log.conversation.follow_ups < config.follow_up_limit
    last = Turn.objects.filter(conversation=log.conversation, seq=log.conversation.last_turn)
    has_ended = Effect.objects.filter(turn_id__in=last.values("pk"), tool=GOODBYE).exists()
    request = open_request(log.conversation.pk)
    awaits_person = request is not None and request.state != EscalationState.OFFERED
    is_allowed = is_allowed and not has_ended and not awaits_person
    return is_allowed and not is_waiting(log.conversation.pk) and not has_talked_enough(log.conversation)


def _queue_follow_up(log: ConversationLog, due_at: datetime) -> None:
    """Add a follow-up turn and queue its reply, in this transaction."""
    generation = log.conversation.last_message
    turn = log.add_turn(Origin.FOLLOW_UP)
    log.conversation.follow_ups += 1
    _record(log, FollowUpState.FIRED, due_at=due_at, turn=turn)
    log.add_event("follow_up", payload={"turn": str(turn.pk), "after_message": generation})
    transaction.on_commit(partial(failpoint, "timer.committed_pre_wake"))
    queue_reply(log, turn, policy="queue")
    failpoint("timer.inserted_pre_commit")


def _record(log: ConversationLog, state: FollowUpState, *, due_at: datetime, turn: Turn | None) -> None:
    FollowUp.objects.create(
        conversation=log.conversation,
        generation=log.conversation.last_message,
        due_at=due_at,
        state=state,
        turn=turn,
    )


def _after_quiet_hours(conversation: Conversation, config: AgentConfig, *, at: datetime) -> datetime:
    chat = conversation.metadata.get("chat")
    number = number_of(chat) if isinstance(chat, Mapping) else ""
    return after_quiet_hours(
        config, conversation.channel, at=at, zone=zone_of_number(number, at=at) if number else None
    )


def after_quiet_hours(config: AgentConfig, channel: str, *, at: datetime, zone: ZoneInfo | None = None) -> datetime:
    """Return `at`, or the end of the project's quiet hours if `at` is inside them, in the customer's time zone if their
    number tells it (`zone`), else in the project's.

    Voice channels have no quiet hours: the customer is on the line. Quiet hours that end at an ambiguous or missing
    local time (a clock change) end at the later reading.
    """
    if config.quiet_hours is None or traits_of(channel).is_voice:
        return at
    begins, ends = (time.fromisoformat(text) for text in config.quiet_hours)
    zone = zone or ZoneInfo(config.timezone)
    local = at.astimezone(zone)
    if not _is_between(local.time(), begins, ends):
        return at
    day = local.date() + timedelta(days=local.time() >= ends)
    # Around a clock change a local time occurs twice or never; use its later reading.
    readings = (datetime.combine(day, ends, tzinfo=zone).replace(fold=fold) for fold in (0, 1))
    return max(reading.astimezone(at.tzinfo) for reading in readings)


def number_of(chat: Mapping[str, Any]) -> str:
    """The customer's number in E.164, of a chat that is named by it."""
    digits = str(chat.get("id", "")).removeprefix("whatsapp:").removeprefix("+")
    return f"+{digits}" if chat.get("kind") in NUMBERED and digits.isdecimal() else ""


def _is_between(now: time, begins: time, ends: time) -> bool:
    """True if a time of day lies in a span, which may cross midnight. A span with equal ends is empty."""
    return begins <= now < ends if begins <= ends else now >= begins or now < ends
