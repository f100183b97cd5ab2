"""Writing to a conversation: numbers handed out under its lock, events kept, the live stream told on commit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations.live import publish
from conversations.models import Conversation, Event, Message, MessageRole, Turn
from conversations.models.event import EventType
from conversations.presenters import message_payload


class ConversationLog:
    """Appends to one conversation inside `open_log`. Messages, turns and events get their numbers here and nowhere else."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._events: list[Event] = []

    def add_event(self, idn: str, *, payload: dict[str, Any], type: EventType = EventType.SYSTEM) -> Event:
        """Append one event; it is stored when the log closes."""
        self.conversation.last_event += 1
        event = Event(
            conversation=self.conversation, seq=self.conversation.last_event, idn=idn, type=type, payload=payload
        )
        self._events.append(event)
        return event

    def add_message(self, role: MessageRole, content: str, *, turn: Turn | None, idn: str) -> Message:
        """Append one message, and the event that tells of it."""
        self.conversation.last_message += 1
        message = Message(
            conversation=self.conversation, turn=turn, seq=self.conversation.last_message, role=role, content=content
        )
        message.created_at = timezone.now()
        message.save(force_insert=True)
        self.add_event(idn, payload=message_payload(message), type=EventType.MESSAGE)
        return message

    def add_turn(self) -> Turn:
        """Append one turn."""
        self.conversation.last_turn += 1
        turn = Turn(conversation=self.conversation, seq=self.conversation.last_turn)
        turn.save(force_insert=True)
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
        """Store the events and the counters; the live stream hears of them when the transaction commits."""
        Event.objects.bulk_create(self._events)
        self.conversation.save(
            update_fields=["last_event", "last_message", "last_turn", "status", "flag", "updated_at"]
        )
        transaction.on_commit(partial(publish.publish_events, self.conversation.pk, list(self._events)))


@contextmanager
def open_log(conversation_id: UUID) -> Iterator[ConversationLog]:
    """Lock the conversation for the rest of the transaction and write to it. Raises Conversation.DoesNotExist."""
    log = ConversationLog(Conversation.objects.select_for_update().get(pk=conversation_id))
    yield log
    log.close()
