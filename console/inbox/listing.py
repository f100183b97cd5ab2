"""The inbox's list: tabs with their counts, and the rows of the chosen one."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import DurationField, QuerySet, Value
from django.db.models.functions import Cast, Now

from console.access import zone_of
from console.conversation_rows import find_rows, last_words
from console.inbox.query import ALL, MINE, TICKETS, WAITING, InboxQuery, encode_cursor
from console.inbox.rows import Rows
from console.search import (
    PAGE,
    Filters,
    find_by_customer,
    find_by_words,
    list_conversations,
    newest_ids,
)
from console.timestamps import format_timestamp
from conversations.inbox.notes import mentioned_in
from conversations.inbox.waiting import MOST_COUNTED, Waiting, is_mine
from conversations.models import Conversation, ConversationStatus
from projects.common.numbers import grouped
from projects.models import Project
from projects.models.permissions import Entry
from tenancy.prepared_queries import PreparedCounts, PreparedValues
from tools.services.support.tickets import open_tickets

# Conversations of matching customers that a search lists before the messages.
MOST_PEOPLE = 10
# Below the waiting ones: conversations that the agent answers by itself, and how long they are listed.
MOST_ANSWERED, ANSWERED_FOR = 8, timedelta(hours=12)


def count_tabs(entry: Entry, waiting: Waiting) -> dict[str, str]:
    """The counts of the tabs, as shown. The first is the number beside “Inbox” in the sidebar."""
    project, user = entry.project.pk, entry.member.user
    mine, every, tickets = _TABS(project, user.pk, tuple(mentioned_in(user)))
    return {
        WAITING: grouped(waiting.count),
        MINE: grouped(mine),
        ALL: grouped(every) if every <= MOST_COUNTED else f"{grouped(MOST_COUNTED)}+",
        TICKETS: grouped(tickets),
    }


def _tabs(project: UUID, user: int, mentioned: Collection[UUID]) -> list[QuerySet[Any, Any]]:
    """The rows of the tabs “Mine”, “All” and “Tickets”."""
    own = Conversation.objects.filter(project_id=project).values("pk")
    return [
        own.filter(is_mine(user, mentioned)),
        own[: MOST_COUNTED + 1],
        open_tickets(Project(pk=project)).values("pk"),
    ]


_TABS = PreparedCounts(_tabs, kinds=(UUID, int, tuple))


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
        left = set(_narrowed(entry.project, query.filters).filter(pk__any=ids).values_list("pk", flat=True))
        ids = [id for id in ids if id in left]
    is_whole = query.is_first and len(ids) <= PAGE and not query.is_narrowed
    answered = [id for (id,) in _ANSWERED(entry.project.pk, tuple(ids))] if is_whole else []
    shown = Rows(entry, find_rows([*ids[start : start + PAGE], *answered]), waiting).with_last_words()
    return {
        "rows": [row for row in shown if row.id not in answered],
        "answered": [row for row in shown if row.id in answered],
        "next": query.address(page=str(query.page + 1)) if len(ids) > start + PAGE else "",
    }


def _answered(project: UUID, waiting: tuple[UUID, ...]) -> QuerySet[Conversation, Any]:
    """The latest conversations in which the agent answers and nobody is needed."""
    rows = Conversation.objects.filter(
        project_id=project,
        status=ConversationStatus.OPEN,
        operator=None,
        closed_at=None,
        updated_at__gt=Now() - Cast(Value(ANSWERED_FOR), DurationField()),
    )
    found = rows.exclude(pk__any=waiting).exclude(snoozed_until__gt=Now())
    return found.order_by("-updated_at", "-id").values_list("pk")[:MOST_ANSWERED]


_ANSWERED = PreparedValues(_answered, kinds=(UUID, tuple))


def _mine(entry: Entry, query: InboxQuery, waiting: Waiting) -> dict[str, Any]:
    user = entry.member.user
    rows = _narrowed(entry.project, query.filters).filter(is_mine(user.pk, mentioned_in(user)))
    ids = newest_ids(rows, most=PAGE + 1, skipped=(query.page - 1) * PAGE)
    next = query.address(page=str(query.page + 1)) if len(ids) > PAGE else ""
    return {"rows": Rows(entry, find_rows(ids[:PAGE]), waiting).with_last_words(), "next": next}


def _page(entry: Entry, query: InboxQuery, waiting: Waiting) -> dict[str, Any]:
    page = list_conversations(entry.project, query.filters, after=query.after)
    return {
        "rows": Rows(entry, page.conversations, waiting).with_last_words(),
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
    rows = Rows(entry, [*people, *(message.conversation for message in said.messages)], waiting)
    found = last_words(people)
    words = query.text.split()
    return {
        "more_people": is_cut,
        "people_found": [rows.row(row, found.get(row.pk)) for row in people],
        "rows": [rows.row(one.conversation, one, words=words) for one in said.messages],
        "back_to": format_timestamp(said.back_to, zone=zone) if said.back_to else None,
        "next": query.address(before=str(said.next)) if said.next else "",
    }


def _narrowed(project: Project, filters: Filters) -> QuerySet[Conversation]:
    return filters.narrow(Conversation.objects.filter(project=project))
