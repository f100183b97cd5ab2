"""The transcript for prompts: in turn order, long messages clipped, oldest messages dropped if they don't fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet

from conversations.common.prompt_shapes import Line
from conversations.models import Message, MessageRole, Turn
from tenancy.prepared_queries import PreparedValues

ROLES = {
    MessageRole.USER: "customer",
    MessageRole.AGENT: "agent",
    MessageRole.OPERATOR: "operator",
    MessageRole.SYSTEM: "system",
}
# Upper limit for messages that no summary covers yet; it applies when a summary is late or fails.
MAX_MESSAGES = 200
MAX_BYTES = 12_000
# The newest messages always stay in a prompt, however large they are.
MIN_MESSAGES = 4
MAX_MESSAGE_BYTES = 6_000
ELLIPSIS = " […] "


@dataclass(frozen=True)
class TranscriptMessage:
    """One message. `turn` is the number of its turn, or of the preceding turn if it belongs to none."""

    seq: int
    role: str
    content: str
    created_at: datetime
    turn: int

    @property
    def size(self) -> int:
        """Approximate size in a prompt, in bytes."""
        return len(self.content.encode()) + len(self.role) + 3


def _messages(conversation: UUID, after: int) -> QuerySet[Message, Any]:
    rows = Message.objects.filter(conversation_id=conversation, seq__gt=after)
    return rows.values_list("seq", "role", "content", "created_at", "turn__seq")


MAX_SEQ = 2_000_000_000
NEWEST = PreparedValues(
    lambda conversation, after, last: (
        _messages(conversation, after).filter(seq__lte=last).order_by("-seq")[:MAX_MESSAGES]
    ),
    kinds=(UUID, int, int),
)
UNSUMMARIZED = PreparedValues(
    lambda conversation: (
        _messages(conversation, 0)
        .filter(Q(conversation__summary=None) | Q(seq__gt=F("conversation__summary__until_seq")))
        .order_by("-seq")[:MAX_MESSAGES]
    ),
    kinds=(UUID,),
)
OLDEST = PreparedValues(
    lambda conversation, after: _messages(conversation, after).order_by("seq")[:MAX_MESSAGES], kinds=(UUID, int)
)


def read_transcript(turn: Turn, *, after: int, is_replied: bool) -> list[TranscriptMessage]:
    """The messages after `after` (a message's seq) that belong to this turn or to earlier ones, as far as they fit.

    A customer may write again before a reply is sent; that message belongs to a later turn and comes later here.
    """
    last = turn.reply.seq if is_replied and turn.reply is not None else MAX_SEQ
    newest = NEWEST(turn.conversation_id, after, last)
    return fit([one for one in _in_turn_order(newest[::-1]) if one.turn <= turn.seq])


def read_unsummarized(conversation_id: UUID) -> list[TranscriptMessage]:
    """The newest messages that the conversation's summary doesn't cover, as far as they fit."""
    return fit(_in_turn_order(UNSUMMARIZED(conversation_id)[::-1]))


def read_since(conversation_id: UUID, *, after: int) -> list[TranscriptMessage]:
    """The oldest messages after `after` (a message's seq), of any size."""
    return _in_turn_order(OLDEST(conversation_id, after))


def _in_turn_order(rows: Sequence[tuple[Any, ...]]) -> list[TranscriptMessage]:
    """Sort rows that come ordered by `seq` into turn order."""
    messages: list[TranscriptMessage] = []
    for seq, role, content, created_at, turn_seq in rows:
        turn = turn_seq or (messages[-1].turn if messages else 0)
        messages.append(TranscriptMessage(seq=seq, role=role, content=clip(content), created_at=created_at, turn=turn))
    return sorted(messages, key=lambda message: (message.turn, message.seq))


def fit(messages: Sequence[TranscriptMessage], *, room: int = MAX_BYTES) -> list[TranscriptMessage]:
    """The newest messages that fit into `room` bytes, and at least MIN_MESSAGES of them."""
    kept = 0
    for kept, message in enumerate(reversed(messages)):
        room -= message.size
        if room < 0 and kept >= MIN_MESSAGES:
            break
    else:
        kept = len(messages)
    return list(messages[len(messages) - kept :])


def clip(text: str, *, longest: int = MAX_MESSAGE_BYTES) -> str:
    """Shorten text of more than `longest` bytes by cutting out its middle."""
    data = text.encode()
    if len(data) <= longest:
        return text
    half = longest // 2
    return data[:half].decode(errors="ignore") + ELLIPSIS + data[-half:].decode(errors="ignore")


def size_of(messages: Sequence[TranscriptMessage]) -> int:
    """Approximate size of a transcript in a prompt, in bytes."""
    return sum(message.size for message in messages)


def as_line(message: TranscriptMessage) -> Line:
    return Line(role=ROLES[MessageRole(message.role)], content=message.content)
