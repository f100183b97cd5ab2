"""The transcript as prompts carry it: in the order of turns, each message clipped, the oldest left out if they must be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F, QuerySet

from conversations.models import Message, MessageRole, Turn
from conversations.skills.context import Line
from projects.compiled import Compiled

ROLES = {
    MessageRole.USER: "customer",
    MessageRole.AGENT: "agent",
    MessageRole.OPERATOR: "operator",
    MessageRole.SYSTEM: "system",
}
# A prompt carries what no summary covers yet, at most so much of it: this holds when a summary is late or fails.
MOST_MESSAGES = 200
MOST_BYTES = 12_000
# The newest messages stay in a prompt whatever they weigh.
LEAST_MESSAGES = 4
LONGEST_MESSAGE = 6_000
LEFT_OUT = " […] "


@dataclass(frozen=True)
class Said:
    """One message. `turn` is its turn's number; of a message outside any turn, that of the one before."""

    seq: int
    role: str
    content: str
    created_at: datetime
    turn: int

    @property
    def size(self) -> int:
        """Bytes in a prompt, about."""
        return len(self.content.encode()) + len(self.role) + 3


def _messages(conversation: UUID, after: int) -> QuerySet[Message]:
    rows = Message.objects.filter(conversation_id=conversation, seq__gt=after)
    return rows.annotate(turn_seq=F("turn__seq"))


NO_END = 2_000_000_000
NEWEST = Compiled(
    lambda conversation, after, last: (
        _messages(conversation, after).filter(seq__lte=last).order_by("-seq")[:MOST_MESSAGES]
    ),
    kinds=(UUID, int, int),
)
OLDEST = Compiled(
    lambda conversation, after: _messages(conversation, after).order_by("seq")[:MOST_MESSAGES], kinds=(UUID, int)
)


def ask_transcript(turn: Turn, *, after: int, is_replied: bool) -> Callable[[], list[Said]]:
    """Ask for a turn's messages from `after` (a message's seq) on, as far as they belong to it or to earlier turns, if they fit.

    A customer may have written again before a reply was sent: that message is answered later and comes later here.
    """
    last = turn.reply.seq if is_replied and turn.reply is not None else NO_END
    newest = NEWEST.ask(turn.conversation_id, after, last)
    return lambda: fit(
        [one for one in _in_order([_row(message) for message in newest()[::-1]]) if one.turn <= turn.seq]
    )


def read_transcript(turn: Turn, *, after: int, is_replied: bool) -> list[Said]:
    """What `ask_transcript` asks for, at once."""
    return ask_transcript(turn, after=after, is_replied=is_replied)()


def read_since(conversation_id: UUID, *, after: int) -> list[Said]:
    """The oldest messages from `after` (a message's seq) on, whatever they weigh."""
    return _in_order([_row(message) for message in OLDEST(conversation_id, after)])


Row = tuple[int, str, str, datetime, int | None]


def _row(message: Message) -> Row:
    return message.seq, message.role, message.content, message.created_at, vars(message)["turn_seq"]


def _in_order(rows: Sequence[Row]) -> list[Said]:
    """In the order of turns; the rows come in that of `seq`."""
    said: list[Said] = []
    for seq, role, content, created_at, turn_seq in rows:
        place = turn_seq or (said[-1].turn if said else 0)
        said.append(Said(seq=seq, role=role, content=clip(content), created_at=created_at, turn=place))
    return sorted(said, key=lambda one: (one.turn, one.seq))


def fit(messages: Sequence[Said], *, room: int = MOST_BYTES) -> list[Said]:
    """The newest messages that have room, and LEAST_MESSAGES of them in any case."""
    kept = 0
    for kept, message in enumerate(reversed(messages)):
        room -= message.size
        if room < 0 and kept >= LEAST_MESSAGES:
            break
    else:
        kept = len(messages)
    return list(messages[len(messages) - kept :])


def clip(text: str, *, longest: int = LONGEST_MESSAGE) -> str:
    """The text, its middle left out when it has more bytes than `longest`."""
    data = text.encode()
    if len(data) <= longest:
        return text
    half = longest // 2
    return data[:half].decode(errors="ignore") + LEFT_OUT + data[-half:].decode(errors="ignore")


def size_of(messages: Sequence[Said]) -> int:
    """Bytes of a transcript in a prompt, about."""
    return sum(message.size for message in messages)


def as_line(message: Said) -> Line:
    return Line(role=ROLES[MessageRole(message.role)], content=message.content)
