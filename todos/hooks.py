"""Functions that todos call and the conversations provide, and the signals of todos. All run inside a tenant's transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    """The transcript handed to a todo's run: the newest messages, and a summary of those before."""

    summary: str = ""
    messages: Sequence[TranscriptLine] = ()


class FindCustomer(Protocol):
    """Finds the customer of a conversation, a persona, or both."""

    def __call__(self, project: Project, *, conversation_id: UUID | None, persona_id: UUID | None) -> UUID | None:
        """The persona's id; None when both are None. Raises ApiError for what the project doesn't have."""


find_customer: Hook[FindCustomer] = Hook("find_customer")
# The transcript of a conversation, as far as a prompt has room.
read_transcript: Hook[Callable[[UUID], Transcript]] = Hook("read_transcript")
# Locks a conversation for the rest of the transaction, before the todo and any job; what becomes of its effects is logged in it.
hold_conversation: Hook[Callable[[UUID], AbstractContextManager[None]]] = Hook("hold_conversation")
# Locks a conversation likewise, and logs nothing.
lock_conversation: Hook[Callable[[UUID], None]] = Hook("lock_conversation")

# An entry was added to the todo's history; the second argument is the entry's word.
todo_changed: Signal[[Todo, str]] = Signal()
# An effect that the todo runs is in another state.
effect_changed: Signal[[Todo, Effect]] = Signal()
