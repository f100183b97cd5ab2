"""The CSV of conversations, as the inbox lists them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponseBase, QueryDict

from console.access import zone_of
from console.conversation_rows import last_words
from console.csv_export import Batch, CsvList, csv_view, page_by_id
from console.inbox import ticket_export
from console.inbox.query import ALL, MINE, TICKETS, WAITING, InboxQuery, parse_query
from console.inbox.reasons import LABELS
from console.search import MOST_WORDS, Place, find_by_words
from conversations.common.customer_names import conversation_names
from conversations.customers.search import customer_ids
from conversations.inbox.notes import mentioned_in
from conversations.inbox.tags import tags_of
from conversations.inbox.waiting import Waiting, is_mine
from conversations.models import Conversation, Message
from projects.models.permissions import Entry


@dataclass(frozen=True)
class Line:
    """A conversation with what the inbox shows beside it. `last` is what the customer wrote last."""

    conversation: Conversation
    customer: str
    reasons: Sequence[str]
    tags: Sequence[str]
    last: str


@dataclass(frozen=True)
class SearchCursor:
    """The place in a search: first the conversations of matching customers, then their messages."""

    customers: UUID | None = None
    before: Place | None = None
    is_at_messages: bool = False


def read_tab(entry: Entry, parameters: QueryDict, after: Any) -> Batch[Line]:
    """The conversations of a tab, its filters or a search."""
    return _read(entry, parse_query(parameters), after)


def read_all(entry: Entry, parameters: QueryDict, after: Any) -> Batch[Line]:
    """All conversations that the filters or a search select."""
    return _read(entry, replace(parse_query(parameters), view=ALL), after)


def _read(entry: Entry, query: InboxQuery, after: Any) -> Batch[Line]:
    waiting, query = Waiting(entry.project), query.in_zone(zone_of(entry))
    rows = query.filters.narrow(Conversation.objects.filter(project=entry.project))
    rows = rows.select_related("operator", "assignee")
    if query.text:
        found = _search(entry, query, rows, after or SearchCursor())
    elif query.view == WAITING:
        # At most 999, in one page: who waits changes from page to page.
        ids = query.waiting_ids(waiting)
        listed = rows.in_bulk(ids)
        found = Batch([listed[id] for id in ids if id in listed])
    else:
        user = entry.member.user
        own = rows.filter(is_mine(user.pk, mentioned_in(user))) if query.view == MINE else rows
        found = page_by_id(own, after)
    return Batch(_lines(found.rows, waiting), found.next)


def _search(entry: Entry, query: InboxQuery, rows: QuerySet[Conversation], place: SearchCursor) -> Batch[Conversation]:
    people = customer_ids(entry.project, query.text)
    if people and not place.is_at_messages:
        page = page_by_id(rows.filter(persona_id__in=people), place.customers)
        return Batch(page.rows, SearchCursor(customers=page.next, is_at_messages=page.next is None))
    said = find_by_words(entry.project, query.text, query.filters, before=place.before)
    ids = dict.fromkeys(message.conversation_id for message in said.messages)
    if place.before:
        # Every message was scanned before the archive.
        since = UUID(int=0) if place.before.is_archive else place.before.before
        ids = _without(ids, _matched_since(ids, query.text, since))
    listed = rows.exclude(persona_id__in=people).in_bulk(list(ids))
    next = SearchCursor(before=said.next, is_at_messages=True) if said.next else None
    return Batch([listed[id] for id in ids if id in listed], next)


def _matched_since(conversations: Collection[UUID], text: str, message_id: UUID) -> set[UUID]:
    """The conversations, of these, with a match that an earlier page has listed."""
    words = Q()
    for word in text.split()[:MOST_WORDS]:
        words &= Q(content__icontains=word)
    rows = Message.objects.filter(words, conversation_id__in=list(conversations), pk__gte=message_id)
    return set(rows.values_list("conversation_id", flat=True))


def _without(ids: dict[UUID, None], others: Collection[UUID]) -> dict[UUID, None]:
    return {id: None for id in ids if id not in others}


def _lines(rows: Sequence[Conversation], waiting: Waiting) -> list[Line]:
    ids = [row.pk for row in rows]
    names, tags, said = conversation_names(rows), tags_of(ids), last_words(rows)
    reasons = waiting.reasons_of(ids)
    return [
        Line(
            conversation=row,
            customer=names.get(row.pk, ""),
            reasons=[LABELS[reason].words for reason in reasons.get(row.pk, ())],
            tags=[tag.name for tag in tags.get(row.pk, ())],
            last=said[row.pk].content if row.pk in said else "",
        )
        for row in rows
    ]


COLUMNS = {
    "Customer": lambda line: line.customer,
    "Channel": lambda line: line.conversation.get_channel_display(),
    "Status": lambda line: line.conversation.get_status_display(),
    "Waits because": lambda line: ", ".join(map(str, line.reasons)),
    "Flag": lambda line: line.conversation.flag,
    "Assigned to": lambda line: line.conversation.assignee.name if line.conversation.assignee else "",
    "Taken over by": lambda line: line.conversation.operator.name if line.conversation.operator else "",
    "Tags": lambda line: ", ".join(line.tags),
    "Last message": lambda line: line.last,
    "Test": lambda line: line.conversation.is_test,
    "Started": lambda line: line.conversation.created_at,
    "Last activity": lambda line: line.conversation.updated_at,
    "Snoozed until": lambda line: line.conversation.snoozed_until,
    "Closed": lambda line: line.conversation.closed_at,
    "Rating": lambda line: line.conversation.rating,
    "Rating comment": lambda line: line.conversation.rating_comment,
    "Conversation ID": lambda line: line.conversation.pk,
}
CONVERSATIONS: CsvList[Line] = CsvList(name="conversations", columns=COLUMNS, read=read_all)

_tab_csv = csv_view(CsvList(name="conversations", columns=COLUMNS, read=read_tab))
_tickets_csv = csv_view(ticket_export.TICKETS)


async def inbox_csv(request: HttpRequest, project_slug: str) -> HttpResponseBase:
    """The CSV of the inbox's tab: tickets on theirs, conversations on the others."""
    is_tickets = parse_query(request.GET).view == TICKETS
    return await (_tickets_csv if is_tickets else _tab_csv)(request, project_slug)
