"""Writing to a conversation: numbers handed out under its lock, events kept, the live stream told on commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from conversations.common.presenters import message_payload
from conversations.live import publish
from conversations.models import Conversation, Event, Message, MessageRole, Origin, Turn
from conversations.models.event import EventType
from jobs.fence import prove
from jobs.lanes import ClaimedJob
from jobs.models import State
from tenancy.ids import uuid7
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import tenant_tx
from tenancy.write_batch import WriteBatch

STARTED = "conversation_started"


class OperatorSpeaks(RuntimeError):
    """A colleague has this conversation: nothing of the agent's is stored (M9)."""


# The columns of a conversation that change under its lock.
KEPT = (
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
    "updated_at",
)
# What of them is no news to anybody: a conversation isn't newer for them, and its place in no list changes.
QUIET = frozenset({"last_event", "directives", "directives_turn", "updated_at"})
NEWS = tuple(field.attname for field in Conversation._meta.concrete_fields if field.name in set(KEPT) - QUIET)
WITHOUT_NEWS = tuple(name for name in KEPT if name != "updated_at")


class ConversationLog:
    """Appends to one conversation inside `open_log`. Messages, turns and events get their numbers here and nowhere else.

    `now` is the database's time. Whatever is said or begun stops the follow-up timer. All of it is written when the log
    closes, in one statement, together with whatever else is added to `writes`.
    """

    def __init__(self, conversation: Conversation, *, now: datetime) -> None:
        self.conversation = conversation
        self.now = now
        self.writes = WriteBatch()
        self.new_turn: Turn | None = None
        self._events: list[Event] = []
        self._before = self._news()

    def add_event(self, idn: str, *, payload: Mapping[str, Any], type: EventType = EventType.SYSTEM) -> Event:
        """Append one event; it is stored when the log closes. Whatever is a conversation's first begins it (T02)."""
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
        author: str = "",
    ) -> Message:
        """Append one message, and the event that tells of it. Raises OperatorSpeaks."""
        if role == MessageRole.AGENT and self.conversation.operator_id is not None:
            raise OperatorSpeaks(OperatorSpeaks.__doc__)
        self.conversation.last_message += 1
        self.conversation.follow_up_at = None
        # By their keys: a turn that knows its reply, which knows the turn, would be freed by a collection only.
        message = Message(
            id=id or uuid7(),
            conversation_id=self.conversation.pk,
            turn_id=turn.pk if turn else None,
            seq=self.conversation.last_message,
            role=role,
            author=author,
            content=content,
            blocks=list(blocks),
        )
        self.writes.insert([message])
        self.add_event(idn, payload=message_payload(message), type=EventType.MESSAGE)
        return message

    def add_turn(self, origin: Origin = Origin.MESSAGE, *, message_id: UUID | None = None) -> Turn:
        """Append one turn. A customer's message may be named before it is stored, in the same transaction."""
        self.conversation.last_turn += 1
        self.conversation.follow_up_at = None
        turn = Turn(
            conversation=self.conversation, seq=self.conversation.last_turn, origin=origin, message_id=message_id
        )
        self.writes.insert([turn])
        self.new_turn = turn
        return turn

    def add_turn_event(self, turn: Turn, **details: Any) -> Event:
        """Tell that a turn changed."""
        payload = {
            "turn": str(turn.pk),
            "seq": turn.seq,
            "status": turn.status,
            "superseded_by": str(turn.superseded_by_id) if turn.superseded_by_id else None,
            **details,
        }
        return self.add_event("turn_changed", payload=payload, type=EventType.TURN)

    def close(self) -> None:
        """Store everything; the live stream hears of them when the transaction commits."""
        self.writes.insert(self._events)
        is_news = self._news() != self._before
        self.writes.update(self.conversation, KEPT if is_news else WITHOUT_NEWS)
        self.writes.send()
        transaction.on_commit(partial(publish.publish_events, self.conversation.pk, list(self._events)))

    def _news(self) -> list[Any]:
        return [getattr(self.conversation, name) for name in NEWS]


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
    """Lock the conversation for the rest of the transaction and write to it. With `project_id` another project's is none.

    Raises Conversation.DoesNotExist. To be opened before any job of the conversation is locked: whoever holds the conversation
    may supersede its jobs.
    """
    found = LOCKED(conversation_id)
    if not found or project_id not in (None, found[0].project_id):
        raise Conversation.DoesNotExist
    log = ConversationLog(found[0], now=vars(found[0])["now"])
    yield log
    log.close()


@contextmanager
def job_log(
    job: ClaimedJob, conversation_id: UUID, *, finish: State | None = None, error: str = ""
) -> Iterator[ConversationLog]:
    """A worker's write to its conversation: one transaction that commits only if the job is still ours (jobs.fence.job_tx).

    Raises Zombie before anything is written, Conversation.DoesNotExist.
    """
    with tenant_tx(job.organization_id, plans_once=True), open_log(conversation_id) as log:
        prove(job, finish=finish, error=error)
        yield log


def lock_conversation(conversation_id: UUID) -> None:
    """Lock a conversation for what follows in the transaction, as `open_log` does."""
    Conversation.objects.select_for_update(of=("self",)).filter(pk=conversation_id).values_list("pk").first()
