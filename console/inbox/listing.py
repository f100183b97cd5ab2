"""The inbox's list: tabs with their counts, and the rows of the chosen one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from console.access import zone_of
from console.inbox.query import ALL, MINE, TICKETS, WAITING, InboxQuery, encode_cursor
from console.inbox.reasons import LABELS, MENTIONED, ReasonLabel
from console.inbox.snippets import excerpt
from console.search import (
    PAGE,
    Filters,
    find_by_customer,
    find_by_words,
    last_words,
    list_conversations,
)
from console.timestamps import Timestamp, format_timestamp
from conversations.common.channels import traits_of
from conversations.common.customer_names import conversation_names
from conversations.common.file_lines import without_brackets
from conversations.inbox.notes import mentioned_in
from conversations.inbox.tags import tags_of
from conversations.inbox.waiting import Waiting, is_mine
from conversations.models import Conversation, ConversationStatus, Message, MessageRole, Tag
from projects.common.numbers import grouped
from projects.common.stored_sentences import translated
from projects.common.translation import lazy
from projects.knowledge.passages import Piece
from projects.models import Project
from projects.models.permissions import Entry
from tools.services.support.tickets import open_tickets

UNNAMED = lazy("Unnamed customer")
# "All" is counted up to here.
MOST_COUNTED = 10_000
# Conversations of matching customers that a search lists before the messages.
MOST_PEOPLE = 10
# Below the waiting ones: conversations that the agent answers by itself, and how long they are listed.
MOST_ANSWERED, ANSWERED_FOR = 8, timedelta(hours=12)


@dataclass(frozen=True)
class Row:
    """A conversation in the list. `pieces` is the customer's last words or the search match."""

    id: UUID
    name: str
    initials: str
    channel: str
    is_call: bool
    is_ended: bool
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
    pieces: list[Piece]
    at: Timestamp


@dataclass(frozen=True)
class RowContext:
    """Data shared by all rows, loaded in bulk."""

    names: Mapping[UUID, str]
    reasons: Mapping[UUID, Sequence[ReasonLabel]]
    tags: Mapping[UUID, Sequence[Tag]]
    zone: str


def count_tabs(entry: Entry, waiting: Waiting) -> dict[str, str]:
    """The counts of the tabs, as shown. The first is the number beside “Inbox” in the sidebar."""
    own = Conversation.objects.filter(project=entry.project)
    every = own.order_by()[: MOST_COUNTED + 1].count()
    return {
        WAITING: grouped(waiting.count),
        MINE: grouped(own.filter(is_mine(entry.member.user)).count()),
        ALL: grouped(every) if every <= MOST_COUNTED else f"{grouped(MOST_COUNTED)}+",
        TICKETS: grouped(open_tickets(entry.project).count()),
    }


def list_context(entry: Entry, query: InboxQuery, waiting: Waiting) -> dict[str, Any]:
    """The rows of the chosen tab or of the search, and the address of the next page."""
    if query.text:
        return _search(entry, query, waiting)
    if query.view == WAITING:
        return _waiting(entry, query, waiting)
    if query.view == MINE:
        return _mine(entry, query, waiting)
    return _page(entry, query, waiting)


def _waiting(entry: Entry, query: InboxQuery, waiting: Waiting) -> dict[str, Any]:
    ids, start = query.waiting_ids(waiting), (query.page - 1) * PAGE
    if query.filters != Filters():
        left = set(_narrowed(entry.project, query.filters).filter(pk__in=ids).values_list("pk", flat=True))
        ids = [id for id in ids if id in left]
    is_whole = query.is_first and len(ids) <= PAGE and not query.is_narrowed
    rows = _chosen(ids[start : start + PAGE])
    answered = _answered(entry.project, waiting=ids) if is_whole else []
    shown = _rows(entry, [*rows, *answered], waiting)
    return {
        "rows": shown[: len(rows)],
        "answered": shown[len(rows) :],
        "next": query.address(page=str(query.page + 1)) if len(ids) > start + PAGE else "",
    }


def _answered(project: Project, *, waiting: Iterable[UUID]) -> list[Conversation]:
    """The latest conversations in which the agent answers and nobody is needed."""
    rows = Conversation.objects.filter(
        project=project,
        status=ConversationStatus.OPEN,
        operator=None,
        closed_at=None,
        updated_at__gt=Now() - ANSWERED_FOR,
    )
    found = rows.exclude(pk__in=list(waiting)).exclude(snoozed_until__gt=Now())
    found = found.select_related("persona", "operator", "assignee")
    return list(found.order_by("-updated_at", "-id")[:MOST_ANSWERED])


def _mine(entry: Entry, query: InboxQuery, waiting: Waiting) -> dict[str, Any]:
    rows = _narrowed(entry.project, query.filters).filter(is_mine(entry.member.user))
    start = (query.page - 1) * PAGE
    found = list(
        rows.select_related("persona", "operator", "assignee").order_by("-updated_at", "-id")[start : start + PAGE + 1]
    )
    next = query.address(page=str(query.page + 1)) if len(found) > PAGE else ""
    return {"rows": _rows(entry, found[:PAGE], waiting), "next": next}


def _page(entry: Entry, query: InboxQuery, waiting: Waiting) -> dict[str, Any]:
    page = list_conversations(entry.project, query.filters, after=query.after)
    return {
        "rows": _rows(entry, page.conversations, waiting),
        "next": query.address(after=encode_cursor(page.next)) if page.next else "",
    }


def _search(entry: Entry, query: InboxQuery, waiting: Waiting) -> dict[str, Any]:
    """Matching customers on the first page, and matching messages on every page."""
    zone = zone_of(entry)
    people = [] if query.before else find_by_customer(entry.project, query.text, query.filters)
    said = find_by_words(
        entry.project, query.text, query.filters, before=query.before, is_beside_customers=bool(people)
    )
    is_cut, people = len(people) > MOST_PEOPLE, people[:MOST_PEOPLE]
    context = _row_context(entry, [*people, *(message.conversation for message in said.messages)], waiting)
    found = last_words(people)
    words = query.text.split()
    return {
        "more_people": is_cut,
        "people_found": [_row(row, context, message=found.get(row.pk), words=()) for row in people],
        "rows": [_row(one.conversation, context, message=one, words=words) for one in said.messages],
        "back_to": format_timestamp(said.back_to, zone=zone) if said.back_to else None,
        "next": query.address(before=str(said.next)) if said.next else "",
    }


def _narrowed(project: Project, filters: Filters) -> QuerySet[Conversation]:
    return filters.narrow(Conversation.objects.filter(project=project))


def _chosen(ids: list[UUID]) -> list[Conversation]:
    """These conversations, in the given order."""
    rows = Conversation.objects.filter(pk__in=ids).select_related("persona", "operator", "assignee")
    found = {row.pk: row for row in rows}
    return [found[id] for id in ids if id in found]


def _rows(entry: Entry, found: list[Conversation], waiting: Waiting) -> list[Row]:
    said, context = last_words(found), _row_context(entry, found, waiting)
    return [_row(row, context, message=said.get(row.pk), words=()) for row in found]


def _row_context(entry: Entry, found: list[Conversation], waiting: Waiting) -> RowContext:
    ids = [row.pk for row in found]
    reasons = {id: [LABELS[reason] for reason in some] for id, some in waiting.reasons_of(ids).items()}
    for id in mentioned_in(entry.member.user):
        reasons[id] = [MENTIONED, *reasons.get(id, [])]
    return RowContext(
        names=conversation_names(found),
        reasons=reasons,
        tags=tags_of(ids),
        zone=zone_of(entry),
    )


def _row(row: Conversation, context: RowContext, *, message: Message | None, words: Iterable[str]) -> Row:
    name = context.names.get(row.pk, UNNAMED)
    # A search lists messages, each with its own time.
    at = message.created_at if words and message else row.updated_at
    now = format_timestamp(at, zone=context.zone)
    until = row.snoozed_until
    is_open = row.status == ConversationStatus.OPEN and row.closed_at is None
    return Row(
        id=row.pk,
        name=name,
        initials=initials(name),
        channel=row.get_channel_display(),
        is_call=traits_of(row.channel).is_voice,
        is_ended=row.status == ConversationStatus.ENDED,
        is_test=row.is_test,
        is_closed=row.closed_at is not None,
        is_live=is_open and now.words in ("now", "1 min"),
        snoozed=format_timestamp(until, zone=context.zone) if until else None,
        flag=translated(row.flag),
        rating=row.rating,
        operator=row.operator.name if row.operator else "",
        assignee=row.assignee.name if row.assignee else "",
        reasons=context.reasons.get(row.pk, ()),
        tags=context.tags.get(row.pk, ()),
        speaker=MessageRole(message.role).label if message and message.role != MessageRole.USER else "",
        pieces=excerpt(without_brackets(message.content), words) if message else [],
        at=now,
    )


def initials(name: str) -> str:
    parts = [part[0] for part in name.split() if part[0].isalpha()] if name != UNNAMED else []
    return "".join((parts[0], parts[-1]) if len(parts) > 1 else parts).upper()
