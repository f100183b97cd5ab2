"""The conversation's log: numbers assigned under its lock, events stored, the live stream notified on commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from conversations.common.payloads import StoredAttachment
from conversations.common.presenters import message_payload
from conversations.live import client
from conversations.live.archive import restore_transcript
from conversations.live.inbox_hints import hint_changed
from conversations.live.turn_telemetry import EndedTurn, count_ended_turns, ended_turn
from conversations.models import Conversation, Event, Message, MessageRole, Origin, Turn
from conversations.models.event import EventType
from jobs.fence import prove
from jobs.lanes import ClaimedJob
from jobs.models import State
from projects.common.hooks import Signal
from tenancy.ids import uuid7
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import tenant_tx
from tenancy.write_batch import WriteBatch

STARTED = "conversation_started"
# Events at the end of a snooze or a closing, by staff, by time, or by a message of the customer.
SNOOZE_ENDED, INBOX_REOPENED = "snooze_ended", "inbox_reopened"
OVER = "conversation_over"


# Sent with every new message, in the transaction that stores it.
message_added: Signal[[ConversationLog, Message]] = Signal()


class OperatorSpeaks(RuntimeError):
    """An operator has this conversation; the agent's message was not stored."""


# Columns of a conversation that change under its lock.
LOCKED_COLUMNS = (
    "last_event",
    "last_message",
    "last_turn",
    "directives",
    "directives_turn",
    "status",
    "flag",
    "follow_up_at",
    "follow_ups",
    "extracted_to",
    "recovery",
    "correction",
    "operator",
    "operator_since",
    "assignee",
    "snoozed_until",
    "returned_at",
    "closed_at",
    "updated_at",
)
# Changes to these alone don't count as activity: `updated_at` and the order of lists stay as they are.
PASSIVE_COLUMNS = frozenset(
    {
        *("last_event", "directives", "directives_turn", "updated_at"),
        *("assignee", "snoozed_until", "returned_at", "closed_at"),
    }
)
ACTIVITY_COLUMNS = tuple(
    field.attname for field in Conversation._meta.concrete_fields if field.name in set(LOCKED_COLUMNS) - PASSIVE_COLUMNS
)
COLUMNS = tuple(
    field.attname
    for field in Conversation._meta.concrete_fields
    if field.name in LOCKED_COLUMNS and field.name != "updated_at"
)
WITHOUT_TIMESTAMP = tuple(name for name in LOCKED_COLUMNS if name != "updated_at")


class ConversationLog:
    """Appends to one conversation inside `open_log`; the only place where messages, turns and events get their numbers.

    `now` is the database's time. Every message and turn stops the follow-up timer. Everything is written in one
    statement when the log closes, together with other rows added to `writes`.
    """

    def __init__(self, conversation: Conversation, *, now: datetime) -> None:
        self.conversation = conversation
        self.now = now
        self.writes = WriteBatch()
        self.new_turn: Turn | None = None
        self._events: list[Event] = []
        self._ended_turns: list[EndedTurn] = []
        self._before = self._activity()
        self._unchanged = self._columns()
        self._was_over = conversation.is_over

    def add_event(self, idn: str, *, payload: Mapping[str, Any], type: EventType = EventType.SYSTEM) -> Event:
        """Append one event; it is stored when the log closes. The first event is preceded by `conversation_started`."""
        if self.conversation.last_event == 0 and idn != STARTED:
            self.add_event(STARTED, payload={"channel": self.conversation.channel})
        self.conversation.last_event += 1
        event = Event(
            conversation=self.conversation, seq=self.conversation.last_event, idn=idn, type=type, payload=payload
        )
        self._events.append(event)
        return event

    def add_message(
        self,
        role: MessageRole,
        content: str,
        *,
        turn: Turn | None,
        idn: str,
        id: UUID | None = None,
        blocks: Sequence[dict[str, Any]] = (),
        attachments: Sequence[StoredAttachment] = (),
        author: str = "",
    ) -> Message:
        """Append one message and its event. Raises OperatorSpeaks."""
        if role == MessageRole.AGENT and self.conversation.operator_id is not None:
            raise OperatorSpeaks(OperatorSpeaks.__doc__)
        if role == MessageRole.USER:
            self._return_to_inbox()
        self.conversation.last_message += 1
        self.conversation.follow_up_at = None
        # Set by key: turn and reply would otherwise form a reference cycle.
        message = Message(
            id=id or uuid7(),
            conversation_id=self.conversation.pk,
            turn_id=turn.pk if turn else None,
            seq=self.conversation.last_message,
            role=role,
            author=author,
            content=content,
            blocks=list(blocks),
            attachments=list(attachments),
        )
        self.writes.insert([message])
        self.add_event(idn, payload=message_payload(message), type=EventType.MESSAGE)
        message_added.send(self, message)
        return message

    def add_turn(self, origin: Origin = Origin.MESSAGE, *, message_id: UUID | None = None) -> Turn:
        """Append one turn. `message_id` may name a message that is stored later in the same transaction."""
        self.conversation.last_turn += 1
        self.conversation.follow_up_at = None
        turn = Turn(
            conversation=self.conversation, seq=self.conversation.last_turn, origin=origin, message_id=message_id
        )
        self.writes.insert([turn])
        self.new_turn = turn
        return turn

    def add_turn_event(self, turn: Turn, **details: Any) -> Event:
        """Append the event that a turn changed."""
        payload = {
            "turn": str(turn.pk),
            "seq": turn.seq,
            "status": turn.status,
            "superseded_by": str(turn.superseded_by_id) if turn.superseded_by_id else None,
            **details,
        }
        if not details and (ended := ended_turn(turn)) is not None:
            self._ended_turns.append(ended)
        return self.add_event("turn_changed", payload=payload, type=EventType.TURN)

    def _return_to_inbox(self) -> None:
        """End a snooze, and reopen what staff closed: the customer writes."""
        conversation = self.conversation
        if conversation.snoozed_until is not None:
            conversation.snoozed_until, conversation.returned_at = None, self.now
            self.add_event(SNOOZE_ENDED, payload={"by": "", "reason": "message"})
        if conversation.closed_at is not None:
            conversation.closed_at = None
            self.add_event(INBOX_REOPENED, payload={"by": "", "reason": "message"})

    def close(self) -> None:
        """Write everything, and notify the live stream when the transaction commits."""
        if self.conversation.is_over != self._was_over:
            self.add_event(OVER, payload={"over": self.conversation.is_over}, type=EventType.OVER)
        if not self._events and self.writes.is_empty and self._columns() == self._unchanged:
            return
        self.writes.insert(self._events)
        has_activity = self._activity() != self._before
        self.writes.update(self.conversation, LOCKED_COLUMNS if has_activity else WITHOUT_TIMESTAMP)
        self.writes.send()
        events = list(self._events)
        transaction.on_commit(partial(client.publish_events, self.conversation.pk, events))
        transaction.on_commit(partial(count_ended_turns, self._ended_turns))
        transaction.on_commit(partial(hint_changed, self.conversation.project_id, {event.type for event in events}))

    def _activity(self) -> list[Any]:
        return [getattr(self.conversation, name) for name in ACTIVITY_COLUMNS]

    def _columns(self) -> list[Any]:
        return [getattr(self.conversation, name) for name in COLUMNS]


LOCKED = PreparedQuery(
    lambda conversation: (
        Conversation.objects.select_for_update(of=("self",))
        .select_related("project")
        .annotate(now=Now())
        .filter(pk=conversation)
    ),
    kinds=(UUID,),
)


@contextmanager
def open_log(conversation_id: UUID, *, project_id: UUID | None = None) -> Iterator[ConversationLog]:
    """Lock the conversation for the rest of the transaction and append to it.

    Raises Conversation.DoesNotExist, also for another project's conversation if `project_id` is given. Open the log
    before locking any of the conversation's jobs: the holder of the conversation may supersede its jobs.
    """
    rows = LOCKED(conversation_id)
    if not rows or project_id not in (None, rows[0].project_id):
        raise Conversation.DoesNotExist
    if rows[0].archived_at is not None:
        restore_transcript(rows[0])
    log = ConversationLog(rows[0], now=vars(rows[0])["now"])
    yield log
    log.close()


@contextmanager
def job_log(job: ClaimedJob, conversation_id: UUID, *, finish: State | None = None) -> Iterator[ConversationLog]:
    """Open the log for a worker: one transaction that commits only if the worker still holds the job (see
    jobs.fence.job_tx).

    Raises LeaseLost before anything is written, Conversation.DoesNotExist.
    """
    with tenant_tx(job.organization_id, plans_once=True), open_log(conversation_id) as log:
        prove(job, finish=finish)
        yield log


def lock_conversation(conversation_id: UUID) -> None:
    """Lock the conversation for the rest of the transaction, as `open_log` does."""
    Conversation.objects.select_for_update(of=("self",)).filter(pk=conversation_id).values_list("pk").first()


def hold_conversation(conversation_id: UUID) -> bool:
    """True if the conversation exists. It can't be deleted before the commit."""
    rows = Conversation.objects.select_for_update(no_key=True, of=("self",)).filter(pk=conversation_id)
    return rows.values_list("pk").first() is not None
