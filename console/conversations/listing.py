"""The list of conversations: views, filters and search."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import QueryDict

from console.access import zone_of
from console.conversations.attention_reasons import MOST, Reason, reasons_of
from console.conversations.snippets import excerpt
from console.parameters import parse_uuid
from console.search import (
    Cursor,
    Filters,
    MessageMatches,
    customer_names,
    find_by_customer,
    find_by_words,
    last_messages,
    list_conversations,
)
from console.timestamps import Timestamp, format_timestamp
from conversations.models import Channel, Conversation, ConversationStatus, Message, MessageRole
from projects.knowledge.passages import Piece
from projects.models.permissions import Entry

LONGEST_SEARCH = 200
VIEWS = ("waiting", "mine")
UNNAMED = "Unnamed customer"


@dataclass(frozen=True)
class Row:
    """A conversation in the list. `pieces` is its last message or the search match."""

    id: UUID
    name: str
    initials: str
    channel: str
    is_ended: bool
    is_test: bool
    flag: str
    operator: str
    reasons: Sequence[Reason]
    speaker: str
    pieces: list[Piece]
    at: Timestamp


@dataclass(frozen=True)
class RowContext:
    """Data shared by all rows, loaded in bulk."""

    names: Mapping[UUID, str]
    reasons: Mapping[UUID, Sequence[Reason]]
    zone: str


@dataclass(frozen=True)
class ListQuery:
    """Search and filters from the query string.

    `view` is `waiting` for conversations that need a person and `mine` for those the member has taken over.
    """

    text: str
    view: str
    filters: Filters
    after: Cursor | None
    before: UUID | None

    def address(self, **changes: str) -> str:
        """Query string with changes applied; empty values are left out."""
        known = {
            "q": self.text,
            "view": self.view,
            "channel": self.filters.channel,
            "status": self.filters.status,
            "flagged": "1" if self.filters.flagged else "",
        }
        return "?" + urlencode({name: value for name, value in (known | changes).items() if value})


def parse_query(parameters: QueryDict) -> ListQuery:
    channel, status = parameters.get("channel", ""), parameters.get("status", "")
    filters = Filters(
        channel=channel if channel in Channel else "",
        status=status if status in ConversationStatus else "",
        flagged=parameters.get("flagged") == "1",
    )
    text = parameters.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH]
    return ListQuery(
        text=text,
        view=parameters.get("view", "") if parameters.get("view") in VIEWS and not text else "",
        filters=filters,
        after=_decode_cursor(parameters.get("after", "")),
        before=parse_uuid(parameters.get("before", "")),
    )


def list_context(entry: Entry, query: ListQuery, chosen: Mapping[str, list[UUID]]) -> dict[str, Any]:
    if query.view:
        return _chosen(entry, chosen[query.view])
    return _search(entry, query) if query.text else _page(entry, query)


def taken_over(entry: Entry) -> list[UUID]:
    """Conversations that the member has taken over."""
    rows = Conversation.objects.filter(project=entry.project, operator_id=entry.member.user_id).order_by("-updated_at")
    return list(rows.values_list("pk", flat=True)[:MOST])


def _chosen(entry: Entry, ids: list[UUID]) -> dict[str, Any]:
    """Context for these conversations, in the given order."""
    rows = Conversation.objects.filter(pk__in=ids).select_related("persona", "operator")
    found = {row.pk: row for row in rows}
    return {"rows": _rows(entry, [found[id] for id in ids if id in found]), "next": ""}


def _page(entry: Entry, query: ListQuery) -> dict[str, Any]:
    page = list_conversations(entry.project, query.filters, after=query.after)
    return {
        "rows": _rows(entry, page.conversations),
        "next": query.address(after=_encode_cursor(page.next)) if page.next else "",
    }


def _search(entry: Entry, query: ListQuery) -> dict[str, Any]:
    """Matching customers on the first page, and matching messages on every page."""
    zone = zone_of(entry)
    people = [] if query.before else find_by_customer(entry.project, query.text, query.filters)
    said = find_by_words(entry.project, query.text, query.filters, before=query.before)
    return {
        "people": _rows(entry, people),
        "rows": _match_rows(entry, said, words=query.text.split()),
        "back_to": format_timestamp(said.back_to, zone=zone) if said.back_to else None,
        "next": query.address(before=str(said.next)) if said.next else "",
    }


def _rows(entry: Entry, found: list[Conversation]) -> list[Row]:
    last, context = last_messages(found), _row_context(entry, found)
    return [_row(row, context, message=last.get(row.pk), at=row.updated_at, words=()) for row in found]


def _match_rows(entry: Entry, said: MessageMatches, *, words: list[str]) -> list[Row]:
    context = _row_context(entry, [message.conversation for message in said.messages])
    return [
        _row(message.conversation, context, message=message, at=message.created_at, words=words)
        for message in said.messages
    ]


def _row_context(entry: Entry, found: list[Conversation]) -> RowContext:
    return RowContext(
        names=customer_names([row.persona_id for row in found]),
        reasons=reasons_of(entry.project, [row.pk for row in found]),
        zone=zone_of(entry),
    )


def _row(row: Conversation, context: RowContext, *, message: Message | None, at: datetime, words: Iterable[str]) -> Row:
    name = context.names.get(row.persona_id, UNNAMED)
    return Row(
        id=row.pk,
        name=name,
        initials=initials(name),
        channel=row.get_channel_display(),
        is_ended=row.status == ConversationStatus.ENDED,
        is_test=row.is_test,
        flag=row.flag,
        operator=row.operator.name if row.operator else "",
        reasons=context.reasons.get(row.pk, ()),
        speaker=MessageRole(message.role).label if message and message.role != MessageRole.USER else "",
        pieces=excerpt(message.content, words) if message else [],
        at=format_timestamp(at, zone=context.zone),
    )


def initials(name: str) -> str:
    parts = [part[0] for part in name.split() if part[0].isalpha()] if name != UNNAMED else []
    return "".join((parts[0], parts[-1]) if len(parts) > 1 else parts).upper()


def _encode_cursor(place: Cursor) -> str:
    return urlsafe_b64encode(f"{place.id} {place.updated_at.isoformat()}".encode()).decode()


def _decode_cursor(text: str) -> Cursor | None:
    """The decoded cursor, or None if it is invalid, which starts the list from the top."""
    try:
        id, _, updated_at = urlsafe_b64decode(text).decode().partition(" ")
        place = Cursor(updated_at=datetime.fromisoformat(updated_at), id=UUID(id))
    except ValueError:
        return None
    return place if place.updated_at.tzinfo else None
