"""CAMainFlow: the prompt, the streamed reply, and the commit that sets the other flows off (T03-T09)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations.claim_check.claim_guard import text_of
from conversations.common.translations import apology_for
from conversations.context.turn_context import Scene, scene_before
from conversations.followups.follow_ups import next_follow_up
from conversations.live.event_log import job_log, open_log
from conversations.live.model_calls import add_calls, keep_calls
from conversations.live.tokens import TokenWriter
from conversations.models import Freshness, MessageRole, Origin, Turn, TurnStatus
from conversations.models.event import EventType
from conversations.prompts.reply import build_request
from conversations.tool_runs.calls.tool_loop import Hops, stored_hops
from conversations.turns.after_reply import queue_analysis, tell_replied
from conversations.turns.channel_signals import obey_signal
from conversations.turns.flags import no_reply
from jobs.claimed import ClaimedJob
from jobs.errors import GiveUp, WrongState
from jobs.failpoints import crash_point
from jobs.fence import job_tx
from jobs.model_client import model_client
from jobs.models import State
from llm.errors import BadAnswer, LlmError, StreamCut
from llm.types import CallRecord, ChatRequest, Completion, FinishReason
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tenancy.write_batch import update_row
from tools.engine.definition import Moment
from tools.engine.execution.outcome import Signal
from tools.engine.function_calling.offer import Offer, read_offer

GO_ON = "Your answer was cut off. Go on exactly where it stopped, without repeating anything."


@dataclass(frozen=True)
class Begun:
    """A reply about to be written."""

    scene: Scene
    request: ChatRequest
    hops: Hops


@dataclass(frozen=True)
class Written:
    """A reply as the model finished it. `withheld` are its claims that nothing stood behind."""

    text: str
    first_token_at: datetime | None
    withheld: Sequence[str]
    hops: Hops


async def run_reply(job: ClaimedJob) -> None:
    """Write the turn's reply and send it; the customer sees it grow."""
    begun = await in_db(_begin, job)
    records: list[CallRecord] = []
    try:
        written = await _write(job, begun, records)
    except LlmError as error:
        await in_db(_keep_partial, job, begun.scene.turn, error.partial, records)
        raise GiveUp(str(error)) from error
    crash_point("turn.llm_done_pre_commit")
    await in_db(_commit, job, begun.scene, written, records)


def _begin(job: ClaimedJob) -> Begun:
    """Mark the turn as replying and read everything the prompt needs; the directives as they stand now (T25)."""
    with job_tx(job):
        scene = scene_before(job)
        turn, directives = scene.turn, scene.conversation.directives
        # What an earlier attempt has called is not asked for again.
        hops = Hops(job, scene, _offer(scene), stored_hops(turn.pk) if turn.started_at else [])
        turn.status, turn.started_at, turn.directives_used = TurnStatus.REPLYING, timezone.now(), directives
        turn.freshness, turn.working_hours = _freshness(scene), scene.status.document
        update_row(turn, ("status", "started_at", "directives_used", "freshness", "working_hours"))
        return Begun(scene=scene, request=build_request(scene, hops.offer), hops=hops)


def _offer(scene: Scene) -> Offer:
    """What the model may call while it answers."""
    return read_offer(Moment.TURN, scene.project, channel=scene.conversation.channel)


def _freshness(scene: Scene) -> Freshness:
    """Fresh directives were written after the last reply; while a result is awaited none are (D6)."""
    conversation = scene.conversation
    if scene.waits:
        return Freshness.WAITING
    if conversation.directives is None:
        return Freshness.NONE
    return Freshness.FRESH if conversation.directives_turn >= (scene.replied or 0) else Freshness.STALE


async def _write(job: ClaimedJob, begun: Begun, records: list[CallRecord]) -> Written:
    """Stream the reply; one that breaks off is written anew, once."""
    attempt = job.attempt * 2 - 1
    try:
        return await _stream(job, begun, records, attempt=attempt)
    except StreamCut:
        return await _stream(job, begun, records, attempt=attempt + 1)


async def _stream(job: ClaimedJob, begun: Begun, records: list[CallRecord], *, attempt: int) -> Written:
    turn = begun.scene.turn
    writer = TokenWriter(conversation_id=job.subject_id, turn_id=turn.pk, attempt=attempt)
    first = len(records)
    try:
        withheld = await _complete(begun, writer, records)
    except asyncio.CancelledError:
        await asyncio.shield(in_db(_keep_partial, job, turn, writer.text, records))
        raise
    finally:
        await writer.close()
    return Written(writer.text.strip(), _first_token_at(records[first:]), withheld, begun.hops)


def _first_token_at(calls: Sequence[CallRecord]) -> datetime | None:
    """When the first word came; a call of tools before it said none."""
    spoken = next((call for call in calls if call.output and call.first_token_ms is not None), None)
    return spoken.started_at + timedelta(milliseconds=spoken.first_token_ms or 0) if spoken else None


async def _complete(begun: Begun, writer: TokenWriter, records: list[CallRecord]) -> Sequence[str]:
    """Write the whole answer, with what its model calls on the way (W08). Returns what was withheld. Raises LlmError."""
    hops, text = begun.hops, text_of(begun.scene, writer.write)

    def on_text(piece: str) -> None:
        text.write(piece)
        crash_point("turn.mid_stream")

    for hop in hops.taken:
        text.write(hop.step.content)
        await hops.finish(hop)
        text.learn(hops.effects)
    while hops.last_word is None:
        on_next = _apart(on_text, writer)
        completion = await _answer(hops.fit(begun.request), on_next, records, writer)
        if not completion.tool_calls:
            break
        if hops.is_last:
            raise BadAnswer("The model calls tools without end.")
        await hops.take(completion)
        text.learn(hops.effects)
    text.close()
    return text.withheld


async def _answer(
    request: ChatRequest, on_text: Callable[[str], None], records: list[CallRecord], writer: TokenWriter
) -> Completion:
    """One answer of the model; one that is cut by its length goes on once. Raises LlmError."""
    completion = await model_client().stream(request, on_text=on_text, record=records.append)
    if completion.finish is FinishReason.LENGTH:
        rest = _continuation(request, written=completion.text)
        completion = await model_client().stream(rest, on_text=on_text, record=records.append)
        if completion.finish is FinishReason.LENGTH:
            raise StreamCut("The answer is longer than the model may write.", partial=writer.text)
    return completion


def _apart(on_text: Callable[[str], None], writer: TokenWriter) -> Callable[[str], None]:
    """What goes on after a tool was called begins apart from what was said before it."""
    is_first = True

    def write(piece: str) -> None:
        nonlocal is_first
        if is_first and piece and writer.text and not (writer.text[-1].isspace() or piece[0].isspace()):
            on_text(" ")
        is_first = False
        on_text(piece)

    return write


def _continuation(request: ChatRequest, *, written: str) -> ChatRequest:
    more = [{"role": "assistant", "content": written}, {"role": "user", "content": GO_ON}]
    return ChatRequest(**{**vars(request), "messages": [*request.messages, *more]})


def _commit(job: ClaimedJob, scene: Scene, written: Written, records: list[CallRecord]) -> None:
    """The reply, the finished turn, the event and the three jobs: all of it or nothing (M5)."""
    with job_log(job, job.subject_id, finish=State.DONE) as log:
        turn, hops = scene.turn, written.hops
        if written.text or hops.blocks:
            turn.reply = log.add_message(
                MessageRole.AGENT, written.text, turn=turn, idn="agent_message", blocks=hops.blocks
            )
        turn.status, turn.first_token_at, turn.partial = TurnStatus.DONE, written.first_token_at, ""
        turn.replied_at = turn.finished_at = timezone.now()
        log.writes.update(turn, ("reply", "status", "first_token_at", "partial", "replied_at", "finished_at"))
        add_calls(log.writes, job, turn, records)
        if log.conversation.correction == scene.conversation.correction:
            log.conversation.correction = ""
        for claim in written.withheld:
            log.add_event("claim_withheld", payload={"turn": str(turn.pk), "text": claim})
        tell_replied(log, turn)
        if (last := hops.last_word) is not None:
            result = (last.effect.result if last.effect else None) or {"turn": str(turn.pk)}
            obey_signal(log, Signal(last.signal), turn_id=turn.pk, result=result)
        transaction.on_commit(partial(crash_point, "turn.committed_pre_wake"))
        log.conversation.follow_up_at = next_follow_up(log, scene.config, after=turn)
        queue_analysis(log, turn, said=scene.messages)


def _keep_partial(job: ClaimedJob, turn: Turn, text: str, records: list[CallRecord]) -> None:
    """Keep what was written of a reply that is not sent, and the calls it cost."""
    keep_calls(job, turn, records)
    if text:
        with tenant_tx(job.organization_id):
            Turn.objects.filter(pk=turn.pk, reply=None).update(partial=text)


def apologise(job: ClaimedJob, reason: str) -> None:
    """The reply failed for good: one honest sentence to the customer, a flag to staff (reliability 2.8).

    Who was only to be followed up has asked nothing, and is told nothing.
    """
    with open_log(job.subject_id) as log:
        turn = Turn.objects.get(conversation=log.conversation, seq=job.ordinal)
        if turn.origin != Origin.FOLLOW_UP:
            apology = apology_for(log.conversation)
            turn.reply = log.add_message(MessageRole.AGENT, apology, turn=turn, idn="agent_message")
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


def reopen(conversation_id: UUID, ordinal: int) -> None:
    """Staff runs a failed reply again; only the newest turn can still be answered. Raises WrongState."""
    with open_log(conversation_id) as log:
        if log.conversation.operator_id is not None:
            raise WrongState("A colleague has this conversation; the agent is silent until they hand it back.")
        if log.conversation.last_turn != ordinal:
            raise WrongState("A newer message was answered since; this reply would come too late.")
        turn = Turn.objects.get(conversation=log.conversation, seq=ordinal)
        turn.status, turn.reply, turn.error, turn.finished_at = TurnStatus.QUEUED, None, "", None
        turn.save(update_fields=["status", "reply", "error", "finished_at"])
        log.add_turn_event(turn)
