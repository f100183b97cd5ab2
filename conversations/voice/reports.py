"""What whoever carries a voice reports of its call: who speaks, what was said, which updates its model was given (T28).

Each report has an id of the provider's or the carrier's own, and is taken once, however often it is delivered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import models

from conversations.common.voice_session import is_voice_call
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import ConversationStatus, Directives, Event, MessageRole, Turn, VoiceSession
from conversations.models.event import EventType
from conversations.turns.after_reply import queue_observation
from conversations.turns.channel_signals import apply_signal
from conversations.voice.turns import add_spoken_turn, unanswered
from projects.common.api_error import ApiError
from tools.engine.execution.outcome import Signal

REPORTED = "voice_reported"


class ReportType(models.TextChoices):
    SPEECH_STARTED = "speech_started", "The caller began to speak"
    SPEECH_STOPPED = "speech_stopped", "The caller stopped"
    CALLER_SAID = "caller_said", "What the caller has said"
    AGENT_SAID = "agent_said", "What the voice's model has said"
    UPDATE_APPLIED = "update_applied", "The voice's model was given an update"
    ENDED = "ended", "The call is over"


@dataclass(frozen=True)
class Report:
    """One thing that happened in a call. `text` are the words that were said, `seq` the update's."""

    id: str
    type: ReportType
    text: str = ""
    seq: int = 0


@dataclass(frozen=True)
class AcceptedReports:
    """What became of some reports: how many came before, and the turns that the others made."""

    repeated: int
    turns: list[Turn]


class NoVoice(ApiError):
    def __init__(self, channel: str) -> None:
        super().__init__(
            "no_voice", f"A voice holds calls: this conversation's channel is {channel}, not phone or webcall."
        )


class NoUpdate(ApiError):
    def __init__(self, seq: int) -> None:
        super().__init__(
            "invalid",
            f"There is no update {seq} in this conversation; report the `seq` that one came with.",
            field="seq",
        )


def take_reports(conversation_id: UUID, reports: Sequence[Report], *, project_id: UUID) -> AcceptedReports:
    """Take reports in their order, all of them or none. Raises Conversation.DoesNotExist, NoVoice, NoUpdate."""
    with open_log(conversation_id, project_id=project_id) as log:
        if not is_voice_call(log.conversation):
            raise NoVoice(log.conversation.channel)
        session = _session(log)
        known = _known(log, reports)
        turns: list[Turn] = []
        new = [report for report in _once(reports) if report.id not in known]
        for report in new:
            log.add_event(REPORTED, payload={"id": report.id, "type": report.type})
            if (turn := _TAKE[report.type](log, session, report)) is not None:
                turns.append(turn)
        session.heard_at = log.now
        session.save()
        return AcceptedReports(repeated=len(reports) - len(new), turns=turns)


def _session(log: ConversationLog) -> VoiceSession:
    found = VoiceSession.objects.select_related("given_directives").filter(conversation=log.conversation).first()
    return found or VoiceSession(conversation=log.conversation)


def _once(reports: Sequence[Report]) -> list[Report]:
    return list({report.id: report for report in reversed(reports)}.values())[::-1]


def _known(log: ConversationLog, reports: Sequence[Report]) -> set[str]:
    rows = Event.objects.filter(
        conversation=log.conversation, idn=REPORTED, payload__id__in=[one.id for one in reports]
    )
    return set(rows.values_list("payload__id", flat=True))


def _start_speech(log: ConversationLog, session: VoiceSession, report: Report) -> None:
    session.speaking_since = log.now


def _stop_speech(log: ConversationLog, session: VoiceSession, report: Report) -> None:
    session.speaking_since = None


def _hear_caller(log: ConversationLog, session: VoiceSession, report: Report) -> None:
    """Kept at once; the turn comes with what answers it."""
    log.add_message(MessageRole.USER, report.text, turn=None, idn="user_message")


def _hear_agent(log: ConversationLog, session: VoiceSession, report: Report) -> Turn:
    return add_spoken_turn(log, session, report.text)


def _apply(log: ConversationLog, session: VoiceSession, report: Report) -> None:
    """An update that was given late is no step back (T15). Raises NoUpdate."""
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


def _end(log: ConversationLog, session: VoiceSession, report: Report) -> None:
    """Whoever hung up: the call is over, and what was said last is read all the same."""
    session.ended_at, session.speaking_since = log.now, None
    log.writes.send()
    for message in unanswered(log.conversation):
        queue_observation(log, message)
    if log.conversation.status == ConversationStatus.OPEN:
        apply_signal(log, Signal.END, turn_id=None, result={"reason": "The call is over."})


_TAKE: Mapping[ReportType, Callable[[ConversationLog, VoiceSession, Report], Turn | None]] = {
    ReportType.SPEECH_STARTED: _start_speech,
    ReportType.SPEECH_STOPPED: _stop_speech,
    ReportType.CALLER_SAID: _hear_caller,
    ReportType.AGENT_SAID: _hear_agent,
    ReportType.UPDATE_APPLIED: _apply,
    ReportType.ENDED: _end,
}
