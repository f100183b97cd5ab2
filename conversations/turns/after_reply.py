"""Jobs that follow a reply, their permanent failures, and the observer job of a message without a turn."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from conversations.context.summaries import is_due
from conversations.context.transcript import TranscriptMessage
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import Message, Turn
from conversations.models.event import EventType
from jobs.enqueue import JobRequest, enqueue
from jobs.lanes import ClaimedJob

OBSERVER = "observer"
MESSAGE_KEY = f"{OBSERVER}:message:"
HEARD_FIRST = "tool_caller"
AFTER_REPLY = (OBSERVER, "thoughts", HEARD_FIRST)
ANALYZE = "broadcast_analyze_conversation"


def add_reply_events(log: ConversationLog, turn: Turn) -> None:
    """Append the events that a turn was replied to, for the flows and for waiting clients."""
    log.add_event(ANALYZE, payload={"turn": str(turn.pk)})
    log.add_turn_event(turn)
    log.add_event("turn_done", payload={"turn": str(turn.pk), "status": turn.status}, type=EventType.DONE)


def queue_analysis(
    log: ConversationLog, turn: Turn, *, unsummarized: Sequence[TranscriptMessage], heard_at: datetime | None = None
) -> None:
    """Queue the flows that follow a reply, and a summary if the messages since the last one are too large.

    The promises of a reply that is spoken are looked for once it was heard, at `heard_at` at the latest.
    """
    lanes = (*AFTER_REPLY, "summary") if is_due(unsummarized) else AFTER_REPLY
    enqueue([_job(lane, log, turn, run_after=heard_at if lane == HEARD_FIRST else None) for lane in lanes])


def _job(lane: str, log: ConversationLog, turn: Turn, *, run_after: datetime | None) -> JobRequest:
    conversation = log.conversation
    return JobRequest(
        lane=lane,
        project_id=conversation.project_id,
        subject_id=conversation.pk,
        ordinal=turn.seq,
        key=f"{lane}:{turn.pk}",
        run_after=run_after,
    )


def queue_observation(log: ConversationLog, message: Message) -> None:
    """Queue the observer for a customer's message that no turn answers."""
    enqueue(
        [
            JobRequest(
                lane=OBSERVER,
                project_id=log.conversation.project_id,
                subject_id=log.conversation.pk,
                # Sorts before the jobs of turns.
                ordinal=0,
                key=f"{MESSAGE_KEY}{message.pk}",
            )
        ]
    )


def observed_message(key: str) -> UUID | None:
    """The message an observer job is about; None for a turn's job."""
    return UUID(key.removeprefix(MESSAGE_KEY)) if key.startswith(MESSAGE_KEY) else None


def report_failure(job: ClaimedJob, reason: str) -> None:
    """Tell the live stream that a flow of the turn failed permanently: the inspector shows it with "Run again"."""
    if observed_message(job.key) is not None:
        return
    with open_log(job.subject_id) as log:
        turn = Turn.objects.get(conversation_id=job.subject_id, seq=job.ordinal)
        log.add_turn_event(turn, lane=job.lane, state="failed", error=reason)
