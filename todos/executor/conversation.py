"""The conversation of a todo as its run needs it: a higher floor's, reached through what it registers when the apps are ready."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from tools.engine.skills.exchange import TranscriptLine


@dataclass(frozen=True)
class Transcript:
    """What was said, the newest of it word for word; `summary` tells what was said before."""

    summary: str = ""
    messages: Sequence[TranscriptLine] = ()


class Reader(Protocol):
    """Reads what was said in a conversation, as far as a prompt has room; inside the tenant's transaction."""

    def __call__(self, conversation_id: UUID) -> Transcript:
        """The transcript as it stands now."""


class Holder(Protocol):
    """Locks a conversation for the rest of the transaction; what then becomes of its effects is written into its log."""

    def __call__(self, conversation_id: UUID) -> AbstractContextManager[None]:
        """To be entered before the todo, and any job, is locked."""


class Locker(Protocol):
    """Locks a conversation for the rest of the transaction, and writes nothing into its log."""

    def __call__(self, conversation_id: UUID) -> None:
        """To be called before the todo, and any job, is locked."""


_registered: list[tuple[Reader, Holder, Locker]] = []


def reach_conversations_by(reader: Reader, holder: Holder, locker: Locker) -> None:
    """Make the one reader, the one holder and the one locker known. Called once, when the apps are ready."""
    _registered[:] = [(reader, holder, locker)]


def transcript_of(conversation_id: UUID | None) -> Transcript:
    """What was said in a todo's conversation; nothing for a todo without one."""
    return _registered[0][0](conversation_id) if conversation_id is not None else Transcript()


def hold(conversation_id: UUID | None) -> AbstractContextManager[None]:
    """A todo's conversation, held for the rest of the transaction; nothing is held where there is none."""
    return _registered[0][1](conversation_id) if conversation_id is not None else nullcontext()


def lock(conversation_id: UUID | None) -> None:
    """Lock a todo's conversation, so that of two effects that begin in it at once, by a todo and by a turn, one sees the other."""
    if conversation_id is not None:
        _registered[0][2](conversation_id)
