"""Access to a todo's conversation for its run; a todo may have none."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from uuid import UUID

from todos.hooks import Transcript, hold_conversation, read_transcript


def load_transcript(conversation_id: UUID | None) -> Transcript:
    """The transcript of a todo's conversation; empty without one."""
    return read_transcript(conversation_id) if conversation_id is not None else Transcript()


def hold(conversation_id: UUID | None) -> AbstractContextManager[None]:
    """Lock a todo's conversation for the rest of the transaction and log changes of its effects; does nothing without
    one.
    """
    return hold_conversation(conversation_id) if conversation_id is not None else nullcontext()
