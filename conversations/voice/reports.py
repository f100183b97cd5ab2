"""Reports from the voice bridge: speaker changes, transcripts, delivered updates.

Each report has an id, set by the provider or the bridge, and is processed once however often it is delivered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import models
from psycopg.types.json import Jsonb

from conversations.common.voice_session import is_voice_call
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import ConversationStatus, Directives, Event, MessageRole, Turn, VoiceSession
from conversations.models.event import EventType
from conversations.turns.after_reply import queue_observation
from conversations.turns.channel_signals import apply_signal
from conversations.voice.spoken_calls import attach_last_calls
from conversations.voice.turns import add_spoken_turn, unanswered
from jobs.fence import prove
from jobs.lanes import ClaimedJob
from projects.common.api_error import ApiError
from tenancy.postgresql.prepared import Prepared
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import current_organization_id
from tools.engine.execution.outcome import Signal

REPORTED = "voice_reported"
SESSION = PreparedQuery(
    lambda conversation: VoiceSession.objects.select_related("given_directives").filter(conversation_id=conversation),
    kinds=(UUID,),
)
SESSION_FIELDS = ("heard_at", "speaking_since", "ended_at", "applied", "given_directives")
_PROCESSED = Prepared("""
select payload ->> 'id' from conversations_event
where organization_id = %s and conversation_id = %s and idn = %s
  and payload ->> 'id' in (select jsonb_array_elements_text(%s::jsonb))
""")


class ReportType(models.TextChoices):
    SPEECH_STARTED = "speech_started", "The caller started speaking"
    SPEECH_STOPPED = "speech_stopped", "The caller stopped speaking"
    CALLER_SAID = "caller_said", "The caller's words"
    AGENT_SAID = "agent_said", "The voice model's words"
    UPDATE_APPLIED = "update_applied", "The voice model received an update"
    ENDED = "ended", "The call ended"


@dataclass(frozen=True)
class Report:
    """One event of a call. `text` is what was said; `seq` is the number of the applied update."""

    id: str
    type: ReportType
    text: str = ""
    seq: int = 0


@dataclass(frozen=True)
class AcceptedReports:
    """Result of a batch: the number of repeated reports, and the turns the others created."""

    repeated: int
    turns: list[Turn]


class NoVoice(ApiError):
    status = 409

    def __init__(self, channel: str) -> None:
        super().__init__(
            "no_voice", f"Voice reports need a phone or webcall conversation; this one's channel is {channel}."
        )


class NoUpdate(ApiError):
    status = 422

    def __init__(self, seq: int) -> None:
        super().__init__(
            "invalid",
            f"There is no update {seq} in this conversation. Report the `seq` of an update it sent.",
            field="seq",
        )


def process_reports(
    conversation_id: UUID, reports: Sequence[Report], *, project_id: UUID, job: ClaimedJob | None = None
) -> AcceptedReports:
    """Process reports in order, all or none. A worker passes its `job`, and writes nothing once it has lost it.

    Raises Conversation.DoesNotExist, NoVoice, NoUpdate, LeaseLost.
    """
    with open_log(conversation_id, project_id=project_id) as log:
        if job is not None:
            prove(job)
        if not is_voice_call(log.conversation):
            raise NoVoice(log.conversation.channel)
        session = _session(log)
        known = _processed_ids(log, reports)
        turns: list[Turn] = []
        new = [report for report in _deduplicated(reports) if report.id not in known]
        for report in new:
            log.add_event(REPORTED, payload={"id": report.id, "type": report.type})
            if (turn := _HANDLERS[report.type](log, session, report)) is not None:
                turns.append(turn)
        session.heard_at = log.now
        _save(log, session)
        return AcceptedReports(repeated=len(reports) - len(new), turns=turns)


def _session(log: ConversationLog) -> VoiceSession:
    return next(iter(SESSION(log.conversation.pk)), None) or VoiceSession(conversation=log.conversation)


def _save(log: ConversationLog, session: VoiceSession) -> None:
    """Write the session with the log."""
    if session._state.adding:
        log.writes.insert([session])
    else:
        log.writes.update(session, SESSION_FIELDS)


def _deduplicated(reports: Sequence[Report]) -> list[Report]:
    return list({report.id: report for report in reversed(reports)}.values())[::-1]


def _processed_ids(log: ConversationLog, reports: Sequence[Report]) -> set[str]:
    ids = Jsonb([report.id for report in reports])
    return {known for (known,) in _PROCESSED(current_organization_id(), log.conversation.pk, REPORTED, ids)}


def _on_speech_started(log: ConversationLog, session: VoiceSession, report: Report) -> None:
    session.speaking_since = log.now


def _on_speech_stopped(log: ConversationLog, session: VoiceSession, report: Report) -> None:
    session.speaking_since = None


def _on_caller_said(log: ConversationLog, session: VoiceSession, report: Report) -> None:
    """Store the message at once; its turn is created with the answer."""
    log.add_message(MessageRole.USER, report.text, turn=None, idn="user_message")


def _on_agent_said(log: ConversationLog, session: VoiceSession, report: Report) -> Turn:
    return add_spoken_turn(log, session, report.text)


def _on_update_applied(log: ConversationLog, session: VoiceSession, report: Report) -> None:
    """Note that the voice model received an update; an older one changes nothing. Raises NoUpdate."""
    if report.seq > log.conversation.last_event:
        raise NoUpdate(report.seq)
    if report.seq <= session.applied:
        return
    session.applied = report.seq
    written = Event.objects.filter(
        conversation=log.conversation, type=EventType.DIRECTIVES, seq__lte=report.seq
    ).order_by("-seq")
    if (newest := written.first()) is not None:
        session.given_directives = Directives.objects.get(
            conversation=log.conversation, version=newest.payload["version"]
        )


def _on_ended(log: ConversationLog, session: VoiceSession, report: Report) -> None:
    """End the call, and queue the caller's last words for the observer."""
    session.ended_at, session.speaking_since = log.now, None
    log.writes.send()
    attach_last_calls(log)
    for message in unanswered(log.conversation):
        queue_observation(log, message)
    if log.conversation.status == ConversationStatus.OPEN:
        apply_signal(log, Signal.END, turn_id=None, result={"reason": "The call is over."})


_HANDLERS: Mapping[ReportType, Callable[[ConversationLog, VoiceSession, Report], Turn | None]] = {
    ReportType.SPEECH_STARTED: _on_speech_started,
    ReportType.SPEECH_STOPPED: _on_speech_stopped,
    ReportType.CALLER_SAID: _on_caller_said,
    ReportType.AGENT_SAID: _on_agent_said,
    ReportType.UPDATE_APPLIED: _on_update_applied,
    ReportType.ENDED: _on_ended,
}
