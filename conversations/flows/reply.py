"""The reply to a turn: read the prompt, run the tool loop, commit the reply with the flows that follow it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from conversations.calls.relay.after_speech import heard_at
from conversations.channels.typing import typing_shown
from conversations.claim_check.claim_guard import guard_for, language_of
from conversations.claim_check.instruction_filter import InstructionFilter
from conversations.common.translations import apology_for
from conversations.context.pictures import with_pictures
from conversations.context.turn_context import TurnContext, context_before
from conversations.followups.follow_ups import next_follow_up
from conversations.handover.requests import hand_over
from conversations.live.event_log import job_log, open_log
from conversations.live.model_calls import add_calls, store_calls
from conversations.live.tokens import TokenWriter
from conversations.models import Freshness, MessageRole, Origin, Turn, TurnStatus
from conversations.models.event import EventType
from conversations.prompts.reply import build_prompt
from conversations.tool_runs.calls.reply_text import ReplyText
from conversations.tool_runs.calls.tool_loop import LoopEnd, ToolLoop, run_tool_loop, stored_steps
from conversations.turns.after_reply import add_reply_events, queue_analysis
from conversations.turns.channel_signals import apply_signal
from conversations.turns.flags import no_reply
from jobs.errors import GiveUp, TryLater, WrongState
from jobs.failpoints import failpoint
from jobs.fence import age_of, job_tx
from jobs.lanes import ClaimedJob
from jobs.models import ModelCall, State
from llm.errors import PERMANENT_CODES, LlmError, StreamCut
from llm.types import CallRecord
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tenancy.write_batch import update_row
from tools.engine.definition import Trigger
from tools.engine.execution.outcome import Signal
from tools.engine.function_calling.offer import read_offer
from tools.engine.limits.model_budget import Share, is_budget_reason, require_budget

NO_END = "The model kept calling tools instead of answering."
# The time that a customer waits for a model that is out, before they are told.
PATIENCE = timedelta(seconds=30)
FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 4.0


@dataclass(frozen=True)
class WrittenReply:
    """A reply as the model finished it. `withheld` lists the claims removed because no tool backed them."""

    text: str
    first_token_at: datetime | None
    withheld: Sequence[str]
    end: LoopEnd


async def run_reply(job: ClaimedJob) -> None:
    """Write the turn's reply and send it; the customer sees it stream."""
    loop = await in_db(_read, job)
    await require_budget(job.organization_id, loop.turn_context.project.pk, Share.AGENT)
    loop.request = await with_pictures(loop.request, loop.pictures)
    records: list[CallRecord] = []
    try:
        async with typing_shown(loop.turn_context.conversation, job):
            written = await _write(loop, records)
    except LlmError as error:
        await in_db(_keep_partial, loop, error.partial, records)
        raise _end_of_attempt(loop, error, waited=await in_db(age_of, job)) from error
    if written.end is LoopEnd.LIMIT:
        await in_db(_keep_partial, loop, "", records)
        raise GiveUp(NO_END)
    failpoint("turn.llm_done_pre_commit")
    await in_db(_commit, loop, written, records)


def _end_of_attempt(loop: ToolLoop, error: LlmError, *, waited: timedelta) -> GiveUp | TryLater:
    """TryLater while the endpoint is out, the customer has seen nothing and hasn't waited for too long."""
    delay_seconds = min(FIRST_DELAY_SECONDS * 2 ** (loop.job.token - 1), LONGEST_DELAY_SECONDS)
    if not error.outage or error.partial or waited + timedelta(seconds=delay_seconds) > PATIENCE:
        return GiveUp(str(error))
    return TryLater(str(error), delay_seconds=delay_seconds * random.uniform(0.5, 1.0))  # noqa: S311 - jitter, not a secret


def _read(job: ClaimedJob) -> ToolLoop:
    """Mark the turn as replying, and read all prompt data, including the current directives."""
    with job_tx(job):
        context = context_before(job)
        turn, directives = context.turn, context.conversation.directives
        offer = read_offer(Trigger.TURN, context.project, channel=context.conversation.channel)
        steps = stored_steps(turn.pk) if turn.started_at else []
        turn.status, turn.started_at, turn.directives_used = TurnStatus.REPLYING, timezone.now(), directives
        turn.freshness, turn.working_hours = _freshness(context), context.status.document
        update_row(turn, ("status", "started_at", "directives_used", "freshness", "working_hours"))
        prompt = build_prompt(context, offer)
        return ToolLoop(job, context, prompt.request, offer, steps, pictures=prompt.pictures)


def _freshness(context: TurnContext) -> Freshness:
    """Directives are fresh if written after the last reply; none are written while a result is awaited."""
    conversation = context.conversation
    if context.waits:
        return Freshness.WAITING
    if conversation.directives is None:
        return Freshness.NONE
    return Freshness.FRESH if conversation.directives_turn >= (context.replied or 0) else Freshness.STALE


async def _write(loop: ToolLoop, records: list[CallRecord]) -> WrittenReply:
    """Stream the reply; a stream that breaks off is restarted once."""
    attempt = loop.job.attempt * 2 - 1
    try:
        return await _stream(loop, records, attempt=attempt)
    except StreamCut:
        return await _stream(loop, records, attempt=attempt + 1)


async def _stream(loop: ToolLoop, records: list[CallRecord], *, attempt: int) -> WrittenReply:
    writer = TokenWriter(conversation_id=loop.job.subject_id, turn_id=loop.turn_context.turn.pk, attempt=attempt)
    filtered = InstructionFilter(writer.write, language=language_of(loop.turn_context))
    text = ReplyText(guard_for(loop.turn_context, filtered.write), writer)
    first = len(records)
    try:
        end = await run_tool_loop(loop, text=text, records=records)
        text.guard.close()
        filtered.close()
    except asyncio.CancelledError:
        await asyncio.shield(in_db(_keep_partial, loop, writer.text, records))
        raise
    except LlmError as error:
        # An answer before the failed one, beside calls, was shown too
        error.partial = writer.text or error.partial
        raise
    finally:
        await writer.close()
    return WrittenReply(writer.text.strip(), _first_token_at(records[first:]), text.guard.withheld, end)


def _first_token_at(calls: Sequence[CallRecord]) -> datetime | None:
    """Time of the first word; a preceding tool call has none."""
    spoken = next((call for call in calls if call.output and call.first_token_ms is not None), None)
    return spoken.started_at + timedelta(milliseconds=spoken.first_token_ms or 0) if spoken else None


def _commit(loop: ToolLoop, written: WrittenReply, records: list[CallRecord]) -> None:
    """Commit the reply, the finished turn, its events and the jobs of the following flows in one transaction."""
    job, context, turn = loop.job, loop.turn_context, loop.turn_context.turn
    with job_log(job, job.subject_id, finish=State.DONE) as log:
        if written.text or loop.blocks:
            turn.reply = log.add_message(
                MessageRole.AGENT, written.text, turn=turn, idn="agent_message", blocks=loop.blocks
            )
        turn.status, turn.first_token_at, turn.partial = TurnStatus.DONE, written.first_token_at, ""
        turn.replied_at = turn.finished_at = timezone.now()
        log.writes.update(turn, ("reply", "status", "first_token_at", "partial", "replied_at", "finished_at"))
        add_calls(log.writes, job, turn, records)
        if log.conversation.correction == context.conversation.correction:
            log.conversation.correction = ""
        for claim in written.withheld:
            log.add_event("claim_withheld", payload={"turn": str(turn.pk), "text": claim})
        add_reply_events(log, turn)
        if (last := loop.signal) is not None:
            result = (last.effect.result if last.effect else None) or {"turn": str(turn.pk)}
            apply_signal(log, Signal(last.signal), turn_id=turn.pk, result=result)
        transaction.on_commit(partial(failpoint, "turn.committed_pre_wake"))
        spoken_until = heard_at(log, written.text)
        log.conversation.follow_up_at = next_follow_up(log, context.config, after=turn, since=spoken_until)
        queue_analysis(log, turn, unsummarized=context.messages, heard_at=spoken_until)


def _keep_partial(loop: ToolLoop, text: str, records: list[CallRecord]) -> None:
    """Store the partial text of a reply that is not sent, and the model calls it cost."""
    turn = loop.turn_context.turn
    store_calls(loop.job, turn, records)
    if text:
        with tenant_tx(loop.job.organization_id):
            Turn.objects.filter(pk=turn.pk, reply=None).update(partial=text)


def apologise(job: ClaimedJob, reason: str) -> None:
    """Send the customer a one-sentence apology and flag the conversation, because the reply failed permanently.

    A failed follow-up sends no apology: the customer asked nothing. Over a budget, a person is asked to take over, and
    the customer is told so once.
    """
    with open_log(job.subject_id) as log:
        turn = Turn.objects.get(conversation=log.conversation, seq=job.ordinal)
        is_budget = is_budget_reason(reason)
        handover = hand_over(log, turn, reason=reason) if is_budget else None
        # Somebody who waits for a colleague already has been told so.
        if turn.origin != Origin.FOLLOW_UP and not (handover and handover.was_waiting):
            apology = apology_for(log.conversation, is_permanent=is_budget or _is_permanent(job))
            blocks = handover.blocks if handover else ()
            turn.reply = log.add_message(MessageRole.AGENT, apology, turn=turn, idn="agent_message", blocks=blocks)
        turn.status, turn.error, turn.finished_at = TurnStatus.FAILED, reason[:300], timezone.now()
        turn.save(update_fields=["reply", "status", "error", "finished_at"])
        log.conversation.flag = no_reply(reason)
        log.add_event(
            "reply_failed",
            payload={"code": "reply_failed", "message": reason, "turn": str(turn.pk)},
            type=EventType.ERROR,
        )
        log.add_turn_event(turn)
        log.add_event("turn_done", payload={"turn": str(turn.pk), "status": turn.status}, type=EventType.DONE)


def _is_permanent(job: ClaimedJob) -> bool:
    """True if the job failed by an error of the model that lasts until somebody changes the settings."""
    last = ModelCall.objects.filter(job=job.id).order_by("-started_at").values_list("error", flat=True).first()
    return last in PERMANENT_CODES


def reopen(conversation_id: UUID, ordinal: int) -> None:
    """Queue a failed reply again for staff; only the newest turn can still be answered. Raises WrongState."""
    with open_log(conversation_id) as log:
        if log.conversation.operator_id is not None:
            raise WrongState(
                gettext("A teammate has taken over this conversation. Hand it back before you run the reply again.")
            )
        if log.conversation.last_turn != ordinal:
            raise WrongState(gettext("A newer message has been answered; this reply is out of date."))
        turn = Turn.objects.get(conversation=log.conversation, seq=ordinal)
        turn.status, turn.reply, turn.error, turn.finished_at = TurnStatus.QUEUED, None, "", None
        turn.save(update_fields=["status", "reply", "error", "finished_at"])
        log.add_turn_event(turn)
