"""The rows of a relayed call. Their writer holds its job: the process with the caller's connection, or a worker.

Every write proves that the writer still holds the job.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models.functions import Now
from django.utils import timezone

from conversations.calls.arrival import LANE
from conversations.calls.gap_notice import add_words_missing
from conversations.calls.relay.after_speech import release_analysis
from conversations.calls.relay.speech import Cut
from conversations.calls.store import GAP
from conversations.calls.transcript import CUT, LONGEST
from conversations.common.presenters import message_payload
from conversations.common.translations import apology_for, language_of
from conversations.context.transcript import read_unsummarized
from conversations.live.event_log import ConversationLog, job_log, open_log
from conversations.models import (
    OPEN_STATES,
    Call,
    CallState,
    Conversation,
    ConversationStatus,
    Message,
    MessageRole,
    Turn,
    TurnStatus,
)
from conversations.models.event import EventType
from conversations.turns.admission import TurnsExceeded, admit_turn
from conversations.turns.after_reply import add_reply_events, queue_analysis, queue_observation
from conversations.turns.channel_signals import apply_signal
from conversations.turns.services import UNSENT_STATUSES, post_message
from conversations.voice.session import voice_of
from conversations.voice.turns import unanswered
from conversations.voice.updates import stop_of
from jobs.enqueue import supersede
from jobs.fence import job_tx, reading
from jobs.holding import take_job
from jobs.lanes import ClaimedJob
from jobs.models import State
from projects.models import Project
from tenancy.scope import tenant_tx
from tools.engine.execution.outcome import Signal

PROVIDER = "twilio"
INTERRUPTED = "The caller interrupted."
UNHEARD = CUT.strip()


@dataclass(frozen=True)
class RelayedCall:
    """A call and where it belongs."""

    organization_id: UUID
    project_id: UUID
    conversation_id: UUID
    call_id: UUID


@dataclass(frozen=True)
class HeldCall:
    """A call whose job this process holds. `after` is the event that the spoken stream begins behind; `language` is the
    one that the call began in.
    """

    call: RelayedCall
    job: ClaimedJob
    after: int
    language: str


@dataclass(frozen=True)
class Stop:
    """Why the voice must stop, the number that the call goes to, and the event of the last words."""

    code: str
    number: str
    last_message: int


def take_call(call: RelayedCall) -> HeldCall | None:
    """Take the call over, because its caller is connected to this process; None if it is over.

    The first connection hears the greeting. A later one closes a gap, and hears the agent's last words again.
    """
    with tenant_tx(call.organization_id), open_log(call.conversation_id) as log:
        row = Call.objects.get(pk=call.call_id)
        job = take_job(LANE, call.conversation_id) if row.state in OPEN_STATES else None
        if job is None:
            return None
        voice = voice_of(log.conversation)
        after = log.conversation.last_event
        if row.state == CallState.LIVE:
            Call.objects.filter(pk=row.pk).update(gaps=row.gaps + 1)
            log.add_event(GAP, payload={"call": str(row.pk)})
            after = _before_last_words(log.conversation)
            # Twilio keeps nothing of what was said meanwhile.
            add_words_missing(log)
        else:
            Call.objects.filter(pk=row.pk).update(state=CallState.LIVE, answered_at=Now())
            log.add_event(f"call_{CallState.LIVE}", payload={"call": str(row.pk), "reason": ""})
            if voice.greeting:
                log.add_message(MessageRole.AGENT, voice.greeting, turn=None, idn="agent_message")
        persona = log.conversation.persona_id
        language = voice.language or language_of(persona, project_id=call.project_id)
        return HeldCall(call, job, after, language)


def _before_last_words(conversation: Conversation) -> int:
    """The event before the agent's last message if the caller has said nothing since, else the last event.

    What the caller cut of it is not said again: the transcript says that it wasn't heard.
    """
    said = Message.objects.filter(conversation=conversation).exclude(role=MessageRole.SYSTEM)
    newest = said.order_by("-seq").first()
    if newest is None or newest.role == MessageRole.USER:
        return conversation.last_event
    told = conversation.events.filter(type=EventType.MESSAGE, payload__id=str(newest.pk)).order_by("-seq").first()
    return told.seq - 1 if told else conversation.last_event


def hear(held: HeldCall, text: str) -> str:
    """Store what the caller said, and queue the reply. Returns a sentence to say instead, or an empty text.

    Raises LeaseLost, ConversationOver.
    """
    with tenant_tx(held.call.organization_id):
        project = Project.objects.get(pk=held.call.project_id)
        try:
            admit_turn(project)
        except TurnsExceeded:
            return apology_for(Conversation.objects.get(pk=held.call.conversation_id))
        post_message(
            held.call.conversation_id,
            text[:LONGEST],
            project_id=held.call.project_id,
            may_refuse=False,
            job=held.job,
        )
        return ""


def cut_speech(held: HeldCall, cuts: Sequence[Cut]) -> None:
    """Cut what the caller didn't hear from the transcript, and end replies that are still being written."""
    with job_log(held.job, held.call.conversation_id) as log:
        for cut in cuts:
            _cut(log, cut)


def _cut(log: ConversationLog, cut: Cut) -> None:
    turn = Turn.objects.select_related("message").filter(pk=cut.turn).first() if cut.turn else None
    if turn is not None and turn.status in UNSENT_STATUSES:
        _end_unsent(log, turn, cut.heard)
        return
    message_id = cut.message or (turn.reply_id if turn else None)
    message = Message.objects.filter(pk=message_id).first() if message_id else None
    if message is not None:
        message.content = f"{cut.heard}{CUT}" if cut.heard else UNHEARD
        message.save(update_fields=["content"])
        log.add_event("message_cut", payload=message_payload(message), type=EventType.MESSAGE)
    if turn is not None:
        release_analysis([turn.pk])


def _end_unsent(log: ConversationLog, turn: Turn, heard: str) -> None:
    """End a reply that is being written: what was heard of it is the reply."""
    supersede(
        lane="reply",
        subject_id=log.conversation.pk,
        before=turn.seq + 1,
        reason=INTERRUPTED,
        spares_patient=False,
    )
    turn.finished_at = timezone.now()
    if not heard:
        turn.status, turn.error = TurnStatus.SUPERSEDED, INTERRUPTED
        turn.save(update_fields=["status", "error", "finished_at"])
        log.add_turn_event(turn)
        log.add_event("turn_done", payload={"turn": str(turn.pk), "status": turn.status}, type=EventType.DONE)
        return
    turn.reply = log.add_message(MessageRole.AGENT, f"{heard}{CUT}", turn=turn, idn="agent_message")
    turn.status, turn.replied_at, turn.partial = TurnStatus.DONE, turn.finished_at, ""
    log.writes.update(turn, ("reply", "status", "replied_at", "finished_at", "partial"))
    add_reply_events(log, turn)
    queue_analysis(log, turn, unsummarized=read_unsummarized(log.conversation.pk))


def note_heard(held: HeldCall, turns: Sequence[UUID]) -> None:
    """These turns were heard to their end: what they promised counts now."""
    with job_tx(held.job):
        release_analysis(turns)


def note_keys(held: HeldCall, keys: str) -> None:
    """Record that the caller pressed keys; they are stored as a message, too."""
    with job_log(held.job, held.call.conversation_id) as log:
        log.add_event("call_keys", payload={"keys": keys})


def read_language(held: HeldCall) -> str:
    """The caller's language as far as it is known."""
    with reading(held.job):
        conversation = Conversation.objects.get(pk=held.call.conversation_id)
        return language_of(conversation.persona_id, project_id=held.call.project_id)


def read_stop(held: HeldCall) -> tuple[int, Stop | None]:
    """The number of the last event, and why the voice must stop, or None while it may speak."""
    with reading(held.job):
        conversation = Conversation.objects.get(pk=held.call.conversation_id)
        # What an operator writes is spoken.
        stop = stop_of(conversation) if conversation.status != ConversationStatus.OPEN else {}
        if not stop:
            return conversation.last_event, None
        said = conversation.events.filter(type=EventType.MESSAGE).order_by("-seq").values_list("seq", flat=True)
        return conversation.last_event, Stop(stop["code"], stop.get("number", ""), said.first() or 0)


def finish(call: RelayedCall, job: ClaimedJob, state: CallState, *, reason: str = "", number: str = "") -> None:
    """End the call and its job, and the conversation if it goes on. Raises LeaseLost."""
    with job_log(job, call.conversation_id, finish=State.DONE) as log:
        finish_in(log, call.call_id, state, reason=reason, number=number)


def finish_in(log: ConversationLog, call_id: UUID, state: CallState, *, reason: str, number: str) -> None:
    """End the call's row and its conversation, in the transaction that ends its job."""
    rows = Call.objects.filter(pk=call_id)
    rows.update(state=state, reason=reason[:300], transferred_to=number, ended_at=Now())
    log.add_event(f"call_{state}", payload={"call": str(call_id), "reason": reason})
    log.writes.send()
    for message in unanswered(log.conversation):
        queue_observation(log, message)
    spoken = Turn.objects.filter(conversation=log.conversation).order_by("-seq").values_list("pk", flat=True)[:2]
    release_analysis(list(spoken))
    if log.conversation.status == ConversationStatus.OPEN:
        result: Mapping[str, object] = {"reason": "The call is over."}
        if state == CallState.TRANSFERRED:
            result = {"transferred": True, "number": number, "to": ""}
        apply_signal(log, Signal.TRANSFER if number else Signal.END, turn_id=None, result=result)
