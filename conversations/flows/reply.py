"""CAMainFlow: the prompt, the streamed reply, and the commit that sets the other flows off (T03-T09)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations.apology import apology_in
from conversations.flows.calls import add_calls, keep_calls
from conversations.live.tokens import TokenWriter
from conversations.log import ConversationLog, job_log, open_log
from conversations.models import Freshness, MessageRole, Origin, PersonaField, Turn, TurnStatus
from conversations.models.event import EventType
from conversations.scene import Scene, scene_before
from conversations.skills.reply import build_request
from conversations.summaries import is_due
from conversations.timers import next_follow_up
from conversations.truthful import text_of
from jobs.claimed import ClaimedJob
from jobs.crash import crash_point
from jobs.enqueue import JobRequest, enqueue
from jobs.errors import GiveUp, WrongState
from jobs.fence import job_tx
from jobs.model_client import model_client
from jobs.models import State
from llm.errors import LlmError, StreamCut
from llm.types import CallRecord, ChatRequest, FinishReason
from projects.tenancy import tenant_tx
from projects.threads import in_db
from projects.writes import update_row

AFTER_REPLY = ("observer", "thoughts", "tool_caller")
ANALYZE = "broadcast_analyze_conversation"
GO_ON = "Your answer was cut off. Go on exactly where it stopped, without repeating anything."


@dataclass(frozen=True)
class Begun:
    """A reply about to be written."""

    scene: Scene
    request: ChatRequest


@dataclass(frozen=True)
class Written:
    """A reply as the model finished it. `withheld` are its claims that nothing stood behind."""

    text: str
    first_token_at: datetime | None
    withheld: Sequence[str]


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
        turn.status, turn.started_at, turn.directives_used = TurnStatus.REPLYING, timezone.now(), directives
        turn.freshness, turn.working_hours = _freshness(scene), scene.status.document
        update_row(turn, ("status", "started_at", "directives_used", "freshness", "working_hours"))
        return Begun(scene=scene, request=build_request(scene))


def _freshness(scene: Scene) -> Freshness:
    """Fresh directives were written after the last reply; while a result is awaited none are (D6)."""
    conversation = scene.conversation
    if scene.waits:
        return Freshness.WAITING
    if conversation.directives is None:
        return Freshness.NONE
    last = scene.replied
    return Freshness.FRESH if last is None or conversation.directives_turn >= last.seq else Freshness.STALE


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
    return Written(text=writer.text.strip(), first_token_at=_first_token_at(records[first]), withheld=withheld)


def _first_token_at(call: CallRecord) -> datetime | None:
    if call.first_token_ms is None:
        return None
    return call.started_at + timedelta(milliseconds=call.first_token_ms)


async def _complete(begun: Begun, writer: TokenWriter, records: list[CallRecord]) -> Sequence[str]:
    """Write the whole answer: one that is cut by its length goes on once. Returns what was withheld. Raises LlmError."""
    request, text = begun.request, text_of(begun.scene, writer.write)

    def on_text(piece: str) -> None:
        text.write(piece)
        crash_point("turn.mid_stream")

    completion = await model_client().stream(request, on_text=on_text, record=records.append)
    if completion.finish is FinishReason.LENGTH:
        rest = _continuation(request, written=completion.text)
        following = await model_client().stream(rest, on_text=on_text, record=records.append)
        if following.finish is FinishReason.LENGTH:
            raise StreamCut("The answer is longer than the model may write.", partial=writer.text)
    text.close()
    return text.withheld


def _continuation(request: ChatRequest, *, written: str) -> ChatRequest:
    more = [{"role": "assistant", "content": written}, {"role": "user", "content": GO_ON}]
    return ChatRequest(**{**vars(request), "messages": [*request.messages, *more]})


def _commit(job: ClaimedJob, scene: Scene, written: Written, records: list[CallRecord]) -> None:
    """The reply, the finished turn, the event and the three jobs: all of it or nothing (M5)."""
    with job_log(job, job.subject_id, finish=State.DONE) as log:
        turn = scene.turn
        turn.reply = log.add_message(MessageRole.AGENT, written.text, turn=turn, idn="agent_message")
        turn.status, turn.first_token_at, turn.partial = TurnStatus.DONE, written.first_token_at, ""
        turn.replied_at = turn.finished_at = timezone.now()
        log.writes.update(turn, ("reply", "status", "first_token_at", "partial", "replied_at", "finished_at"))
        add_calls(log.writes, job, turn, records)
        if log.conversation.correction == scene.conversation.correction:
            log.conversation.correction = ""
        for claim in written.withheld:
            log.add_event("claim_withheld", payload={"turn": str(turn.pk), "text": claim})
        log.add_event(ANALYZE, payload={"turn": str(turn.pk)})
        log.add_turn_event(turn)
        log.add_event("turn_done", payload={"turn": str(turn.pk), "status": turn.status}, type=EventType.DONE)
        transaction.on_commit(partial(crash_point, "turn.committed_pre_wake"))
        log.conversation.follow_up_at = next_follow_up(log, scene.config, after=turn)
        enqueue([_follower(lane, log, turn) for lane in _followers(scene)])


def _followers(scene: Scene) -> tuple[str, ...]:
    return (*AFTER_REPLY, "summary") if is_due(scene.messages) else AFTER_REPLY


def _follower(lane: str, log: ConversationLog, turn: Turn) -> JobRequest:
    conversation = log.conversation
    return JobRequest(
        lane=lane,
        project_id=conversation.project_id,
        subject_id=conversation.pk,
        ordinal=turn.seq,
        key=f"{lane}:{turn.pk}",
    )


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
            turn.reply = log.add_message(MessageRole.AGENT, _apology(log), turn=turn, idn="agent_message")
        turn.status, turn.error, turn.finished_at = TurnStatus.FAILED, reason[:300], timezone.now()
        turn.save(update_fields=["reply", "status", "error", "finished_at"])
        log.conversation.flag = f"No reply could be written: {reason}"[:300]
        log.add_event(
            "reply_failed",
            payload={"code": "reply_failed", "message": reason, "turn": str(turn.pk)},
            type=EventType.ERROR,
        )
        log.add_turn_event(turn)
        log.add_event("turn_done", payload={"turn": str(turn.pk), "status": turn.status}, type=EventType.DONE)


def _apology(log: ConversationLog) -> str:
    language = PersonaField.objects.filter(persona_id=log.conversation.persona_id, key="language").first()
    return apology_in(language.value if language else None)


def reopen(conversation_id: UUID, ordinal: int) -> None:
    """Staff runs a failed reply again; only the newest turn can still be answered. Raises WrongState."""
    with open_log(conversation_id) as log:
        if log.conversation.last_turn != ordinal:
            raise WrongState("A newer message was answered since; this reply would come too late.")
        turn = Turn.objects.get(conversation=log.conversation, seq=ordinal)
        turn.status, turn.reply, turn.error, turn.finished_at = TurnStatus.QUEUED, None, "", None
        turn.save(update_fields=["status", "reply", "error", "finished_at"])
        log.add_turn_event(turn)
