"""The conversation of a todo as its run needs it; a todo may have none."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from uuid import UUID

from todos.hooks import Transcript, hold_conversation, lock_conversation, read_transcript


def transcript_of(conversation_id: UUID | None) -> Transcript:
    """What was said in a todo's conversation; nothing for a todo without one."""
    return read_transcript(conversation_id) if conversation_id is not None else Transcript()


def hold(conversation_id: UUID | None) -> AbstractContextManager[None]:
    """A todo's conversation, held for the rest of the transaction; nothing is held where there is none."""
    return hold_conversation(conversation_id) if conversation_id is not None else nullcontext()


def lock(conversation_id: UUID | None) -> None:
    """Lock a todo's conversation, so that of two effects that begin in it at once, by a todo and by a turn, one sees the other."""
    if conversation_id is not None:
        lock_conversation(conversation_id)
