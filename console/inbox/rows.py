"""The rows of the inbox's list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext

from console.access import zone_of
from console.conversation_rows import last_words
from console.inbox.reasons import LABELS, MENTIONED, ReasonLabel
from console.inbox.snippets import excerpt
from console.timestamps import Timestamp, format_timestamp
from conversations.common.customer_names import conversation_names
from conversations.common.file_lines import without_brackets
from conversations.inbox.notes import mentioned_in
from conversations.inbox.tags import tags_of
from conversations.inbox.waiting import Waiting
from conversations.models import Channel, Conversation, ConversationStatus, Message, MessageRole, Tag
from projects.common.stored_sentences import translated
from projects.common.translation import lazy
from projects.knowledge.passages import Piece
from projects.models.permissions import Entry

UNNAMED = lazy("Unnamed customer")
# An open conversation with activity this recent is marked as live.
LIVE_FOR = timedelta(minutes=2)
# Reasons that a row shows.
MOST_REASONS = 2


@dataclass(frozen=True)
class Row:
    """A conversation in the list. `text` is the customer's last words or the text around a match of the search, whose
    `pieces` mark the words that were searched for.
    """

    id: UUID
    name: str
    initials: str
    pick: str
    channel: str
    is_test: bool
    is_closed: bool
    is_live: bool
    snoozed: Timestamp | None
    flag: str
    rating: int | None
    operator: str
    assignee: str
    reasons: Sequence[ReasonLabel]
    tags: Sequence[Tag]
    speaker: str
    text: str
    pieces: Sequence[Piece]
    at: Timestamp


class Rows:
    """Makes the rows of these conversations, with data that is loaded for all of them together."""

    def __init__(self, entry: Entry, found: list[Conversation], waiting: Waiting) -> None:
        ids = [row.pk for row in found]
        self._found = found
        self._zone = zone_of(entry)
        self._names = conversation_names(found)
        self._tags = tags_of(ids)
        self._reasons = {id: [LABELS[reason] for reason in some] for id, some in waiting.reasons_of(ids).items()}
        for id in mentioned_in(entry.member.user):
            self._reasons[id] = [MENTIONED, *self._reasons.get(id, [])]
        self._pick = gettext("Select %(name)s")
        self._closed, self._ended = gettext("%(channel)s, closed"), gettext("%(channel)s, ended")

    def with_last_words(self) -> list[Row]:
        said = last_words(self._found)
        return [self.row(row, said.get(row.pk)) for row in self._found]

    def row(self, row: Conversation, message: Message | None, *, words: Iterable[str] = ()) -> Row:
        """The row with this message, and with the words of a search marked in it."""
        name = self._names.get(row.pk) or str(UNNAMED)
        # A search lists messages, each with its own time.
        at = message.created_at if words and message else row.updated_at
        is_open = row.status == ConversationStatus.OPEN and row.closed_at is None
        pieces = excerpt(without_brackets(message.content), words) if message else []
        return Row(
            id=row.pk,
            name=name,
            initials=initials(name),
            pick=self._pick % {"name": name},
            channel=self._channel(row),
            is_test=row.is_test,
            is_closed=row.closed_at is not None,
            is_live=is_open and timezone.now() - at < LIVE_FOR,
            snoozed=format_timestamp(row.snoozed_until, zone=self._zone) if row.snoozed_until else None,
            flag=translated(row.flag),
            rating=row.rating,
            operator=row.operator.name if row.operator else "",
            assignee=row.assignee.name if row.assignee else "",
            reasons=self._reasons.get(row.pk, [])[:MOST_REASONS],
            tags=self._tags.get(row.pk, ()),
            speaker=speaker_of(message),
            text="".join(piece.text for piece in pieces),
            pieces=pieces if words else (),
            at=format_timestamp(at, zone=self._zone),
        )

    def _channel(self, row: Conversation) -> str:
        """The channel, and whether the conversation is over."""
        channel = str(Channel(row.channel).label)
        if row.closed_at is not None:
            return self._closed % {"channel": channel}
        return self._ended % {"channel": channel} if row.status == ConversationStatus.ENDED else channel


def speaker_of(message: Message | None) -> str:
    """The role of whoever wrote the message, unless it is the customer."""
    return str(MessageRole(message.role).label) if message and message.role != MessageRole.USER else ""


def initials(name: str) -> str:
    parts = [part[0] for part in name.split() if part[0].isalpha()] if name != UNNAMED else []
    return "".join((parts[0], parts[-1]) if len(parts) > 1 else parts).upper()
