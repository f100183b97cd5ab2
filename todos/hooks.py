"""Hooks that conversations implement for todos, and the signals of todos. All run inside a tenant's transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from projects.common.hooks import Hook, Signal
from projects.models import Project
from todos.models import Todo
from tools.engine.skills.detect import TranscriptLine
from tools.models import Effect


@dataclass(frozen=True)
class Transcript:
    """The conversation as a run reads it: the newest messages, and a summary of the earlier ones."""

    summary: str = ""
    messages: Sequence[TranscriptLine] = ()


class FindCustomer(Protocol):
    """Finds the customer of a conversation, of a persona, or of both."""

    def __call__(self, project: Project, *, conversation_id: UUID | None, persona_id: UUID | None) -> UUID | None:
        """Return the persona's id, or None if both ids are None. Raises ApiError for an id the project doesn't have."""


find_customer: Hook[FindCustomer] = Hook("find_customer")
# The display names of customers by persona id. Unknown customers are missing.
customer_names: Hook[Callable[[Collection[UUID]], Mapping[UUID, str]]] = Hook("customer_names")
# The transcript of a conversation, cut to fit a prompt.
read_transcript: Hook[Callable[[UUID], Transcript]] = Hook("read_transcript")
# Locks a conversation for the rest of the transaction, before the todo and any job, and logs changes of its effects.
hold_conversation: Hook[Callable[[UUID], AbstractContextManager[None]]] = Hook("hold_conversation")

# An entry was added to the todo's history; the second argument is the entry's `what`.
todo_changed: Signal[[Todo, str]] = Signal()
# The state of one of the todo's effects has changed.
effect_changed: Signal[[Todo, Effect]] = Signal()
