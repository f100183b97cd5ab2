"""Follow-up timers: the agent writes again when the customer stays silent (reliability 2.5, N12).

A timer is one column of its conversation, so that setting and stopping it costs nothing and can't be forgotten: every
message and every turn clears it under the conversation's lock. Only the database's clock counts.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta
from functools import partial
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import transaction

from conversations.common.channels import follow_up_delay, traits_of
from conversations.followups.waits import is_waiting
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import ConversationStatus, FollowUp, FollowUpState, Origin, Turn
from conversations.turns.services import has_talked_enough, queue_reply
from jobs.failpoints import failpoint
from jobs.sweep import sweep_tenants
from projects.models import Project
from projects.models.agent_config import AgentConfig
from tools.models import Effect

# A timer that ran out so long ago, because nothing swept, is not followed up any more (F4).
MAX_LATE = timedelta(hours=1)
GOODBYE = "end_conversation_tool"

_DUE = """
select organization_id, id from conversations_conversation
where follow_up_at <= clock_timestamp() order by follow_up_at limit 100
"""


def next_follow_up(log: ConversationLog, config: AgentConfig, *, after: Turn) -> datetime | None:
    """When the agent writes again if nobody does before; None when it doesn't, or when a newer turn waits already."""
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
    return after_quiet_hours(config, conversation.channel, at=log.now + delay)


def fire_follow_ups() -> None:
    """Fire what is due, in all tenants: the sweep's hook. Several at once fire each timer once."""
    sweep_tenants(_DUE, _fire, failed="A follow-up could not be fired")


def _fire(conversation_id: UUID) -> None:
    """Under the lock: a customer's message that was committed first has stopped the timer (F2)."""
    failpoint("timer.claimed")
    with open_log(conversation_id) as log:
        conversation, due_at = log.conversation, log.conversation.follow_up_at
        if due_at is None or due_at > log.now:
            return
        conversation.follow_up_at = None
        config = Project.objects.select_related("agent_version").get(pk=conversation.project_id).agent_version.config
        if log.now - due_at > MAX_LATE:
            _record(log, FollowUpState.MISSED, due_at=due_at, turn=None)
        elif (loud_at := after_quiet_hours(config, conversation.channel, at=log.now)) > log.now:
            conversation.follow_up_at = loud_at
        elif _is_still_wanted(log, config):
            _speak(log, due_at)


def _is_still_wanted(log: ConversationLog, config: AgentConfig) -> bool:
    """The settings may have changed since, and who said goodbye isn't asked whether they are still there."""
    is_allowed = bool(follow_up_delay(config, log.conversation.channel))
    is_allowed = (
        is_allowed and log.conversation.status == ConversationStatus.OPEN and log.conversation.operator_id is None
    )
    is_allowed = is_allowed and log.conversation.follow_ups < config.follow_up_limit
    last = Turn.objects.filter(conversation=log.conversation, seq=log.conversation.last_turn)
    has_ended = Effect.objects.filter(turn_id__in=last.values("pk"), tool=GOODBYE).exists()
    return (
        is_allowed and not has_ended and not is_waiting(log.conversation.pk) and not has_talked_enough(log.conversation)
    )


def _speak(log: ConversationLog, due_at: datetime) -> None:
    """A turn of the agent's own, with its job, in this transaction."""
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


def after_quiet_hours(config: AgentConfig, channel: str, *, at: datetime) -> datetime:
    """The first moment from `at` on that is not in the project's quiet hours, in its own time zone, also when clocks change.

    On a voice channel the customer is on the line: there are none.
    """
    if config.quiet_hours is None or traits_of(channel).is_voice:
        return at
    begins, ends = (time.fromisoformat(text) for text in config.quiet_hours)
    zone = ZoneInfo(config.timezone)
    local = at.astimezone(zone)
    if not _is_between(local.time(), begins, ends):
        return at
    day = local.date() + timedelta(days=local.time() >= ends)
    # A time of day that comes twice, or not at all, ends the quiet at its later reading.
    readings = (datetime.combine(day, ends, tzinfo=zone).replace(fold=fold) for fold in (0, 1))
    return max(reading.astimezone(at.tzinfo) for reading in readings)


def _is_between(now: time, begins: time, ends: time) -> bool:
    """Whether a time of day lies in a span that may go over midnight. One that ends as it begins holds nothing."""
    return begins <= now < ends if begins <= ends else now >= begins or now < ends
