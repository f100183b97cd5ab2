"""The lane that sends messages out: commit `sending`, send the part, commit its outcome and its receipt.

Parts of one conversation go out one after the other, in the order of its messages. A limit of the provider postpones
the part and the account's others, and no worker waits for it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from conversations.channels.delivery_context import NOT_CONNECTED, DeliveryContext, NothingToSend, open_context
from conversations.channels.outgoing import (
    LANE,
    delivery_job,
    ordinal_of,
)
from conversations.channels.outgoing_files import send_part
from conversations.channels.pacing import next_turn, pause_account
from conversations.channels.presses import acknowledge_press, is_press
from conversations.channels.receipts import catch_up, record_effect, record_receipt
from conversations.live.event_log import ConversationLog, job_log, lock_conversation, open_log
from conversations.models import Receipt
from conversations.models.event import EventType
from jobs.enqueue import enqueue
from jobs.errors import WrongState
from jobs.failpoints import failpoint
from jobs.fence import prove
from jobs.lanes import ClaimedJob, Lane, Mode, Queue
from jobs.models import State
from jobs.outages import until_stored
from projects.connections.integrations import clear_needs_reauth, mark_needs_reauth
from tenancy.threads import in_db
from tools.engine import effect_decisions, ledger
from tools.engine.execution.effect_run import Change, EffectRun, Start
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.execution.outcome_policy import NextStep
from tools.engine.presenters import effect_payload
from tools.models import AfterAction, Effect, EffectState
from tools.services.messaging.base import needs_reauth

log = logging.getLogger(__name__)

# In the key of a job that waited for its part's turn.
TURN = ":turn "


class DeliveryRun(EffectRun):
    """The run of one part of a message, in its conversation, whose log is open. The agent is told nothing."""

    def __init__(self, conversation: ConversationLog, effect: Effect) -> None:
        super().__init__(effect, now=conversation.now)
        self.log = conversation
        self._not_before = conversation.now

    def rule_input(self) -> None:
        """None: the message was said already, and whether it may go out is decided when it is planned."""

    def find_repeated(self) -> None:
        """None: the same words said twice are two messages."""

    def end(self, outcome: Outcome, *, state: EffectState) -> bool:
        """End the effect. Callbacks may have come before."""
        is_new = super().end(outcome, state=state)
        if is_new:
            catch_up(self)
        return is_new

    def announce(self, change: Change, *, after_actions: Sequence[AfterAction] = ()) -> None:
        record_receipt(self.log, self.effect)
        if self.effect.state in (EffectState.FAILED, EffectState.UNKNOWN):
            self.log.add_event(
                f"effect_{self.effect.state}", payload=effect_payload(self.effect), type=EventType.EFFECT
            )

    def queue_attempt(self, due_at: datetime) -> None:
        queue_part(self.effect, run_after=max(due_at, self._not_before))

    def queue_callback_check(self, due_at: datetime) -> None:
        raise TypeError("A channel never answers later: its receipts do.")

    def next_step(self, outcome: Outcome) -> NextStep:
        """A part that a limit of the provider stops is tried again as long as its time lasts."""
        step, deadline = super().next_step(outcome), self.effect.deadline_at
        if outcome.ending is not Ending.NOT_SENT or outcome.retry_after_seconds is None:
            return step
        self._not_before = self.now + timedelta(seconds=max(1.0, outcome.retry_after_seconds))
        has_time = deadline is None or self._not_before <= deadline
        return NextStep.AGAIN if step is NextStep.FAILED and has_time else step


def channel_lane() -> Lane:
    """The lane as the workers know it."""
    return Lane(
        name=LANE,
        queue=Queue.WORK,
        mode=Mode.QUEUE,
        handler=run_channel,
        lock=lock_conversation,
        on_failed=fail_channel,
        on_run_again=send_again,
    )


async def run_channel(job: ClaimedJob) -> None:
    """Make one attempt at a part, or acknowledge a press. Does nothing if it is over."""
    if is_press(job):
        await acknowledge_press(job)
        return
    context = await in_db(_begin, job)
    if context is None:
        return
    failpoint("channel.sending_pre_bytes")
    outcome = await send_part(context.provider, context.connection, context.part)
    failpoint("channel.response_pre_commit")
    await until_stored(_settle, job, context, outcome)


def fail_channel(job: ClaimedJob, reason: str) -> None:
    """Record the job's final failure. A part in `sending` may have arrived, so it becomes unknown."""
    if is_press(job):
        return
    with open_log(job.subject_id) as conversation:
        effect = Effect.objects.get(pk=job.cause_id)
        if effect.state in ledger.OPEN:
            DeliveryRun(conversation, effect).fail(reason)


def send_again(conversation_id: UUID, ordinal: int) -> None:
    """Plan a part again that never began, because staff reran its failed job. Raises WrongState."""
    for receipt in Receipt.objects.filter(conversation_id=conversation_id).select_related("message"):
        if receipt.effect_id and ordinal_of(receipt.message.seq, receipt.part) == ordinal:
            effect = Effect.objects.get(pk=receipt.effect_id)
            effect_decisions.reopen(effect)
            record_effect(effect)
            return
    raise WrongState(NOT_CONNECTED)


def resolve_delivery(effect: Effect, *, happened: bool, by: UUID | None) -> Effect:
    """Record whether a part of unknown outcome arrived. If not, it is sent again. Raises WrongState."""
    receipt = Receipt.objects.get(effect_id=effect.pk)
    with open_log(receipt.conversation_id) as conversation:
        if happened:
            effect_decisions.confirm(effect, by=by)
        else:
            effect_decisions.send_again(effect, by=by)
            queue_part(effect)
        record_receipt(conversation, effect)
        conversation.add_event("effect_resolved", payload=effect_payload(effect), type=EventType.EFFECT)
    return effect


def queue_part(effect: Effect, *, run_after: datetime | None = None) -> None:
    """Queue the next attempt at a part."""
    receipt = Receipt.objects.select_related("message").get(effect_id=effect.pk)
    enqueue([delivery_job(effect, receipt.conversation_id, receipt.message.seq, receipt.part, run_after=run_after)])


def _begin(job: ClaimedJob) -> DeliveryContext | None:
    with job_log(job, job.subject_id) as conversation:
        effect = Effect.objects.get(pk=job.cause_id)
        run = DeliveryRun(conversation, effect)
        context = _open_or_end(run) if effect.state == EffectState.PLANNED else None
        if context is not None and _is_postponed(job, context, now=conversation.now):
            prove(job, finish=State.DONE)
            return None
        # An attempt that a dead worker left behind ends as unknown, and needs no connection for that.
        if run.begin() is not Start.READY:
            prove(job, finish=State.DONE)
            return None
        return context


def _is_postponed(job: ClaimedJob, context: DeliveryContext, *, now: datetime) -> bool:
    """True if a limit of the account holds the part back. It is queued for its turn, without an attempt."""
    turn = next_turn(context.chat, now=now, has_turn=TURN in job.key)
    if turn is not None:
        receipt = Receipt.objects.select_related("message").get(effect_id=context.effect.pk)
        later = delivery_job(context.effect, receipt.conversation_id, receipt.message.seq, receipt.part, run_after=turn)
        enqueue([replace(later, key=f"{later.key}{TURN}{turn.timestamp():.3f}")])
    return turn is not None


def _open_or_end(run: DeliveryRun) -> DeliveryContext | None:
    try:
        return open_context(run.effect)
    except NothingToSend as over:
        run.end(Outcome.failed(str(over)), state=EffectState.FAILED)
        return None


def _settle(job: ClaimedJob, context: DeliveryContext, outcome: Outcome) -> None:
    connection = context.connection
    with job_log(job, job.subject_id) as conversation:
        context.effect.refresh_from_db()
        DeliveryRun(conversation, context.effect).settle(outcome)
        pause_account(context.chat, outcome, now=conversation.now)
        if needs_reauth(outcome):
            if mark_needs_reauth(connection.source_id, tried=connection):
                log.warning("The channel %s has to be connected again.", context.provider.kind)
        elif outcome.ending is Ending.DONE:
            clear_needs_reauth(connection.source_id, tried=connection)
        prove(job, finish=State.DONE)
