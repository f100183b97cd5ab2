"""Conversation search: by latest activity, by customer, by message text.

Customers are found by `conversations.customers.search`. Text search scans messages backwards from the newest, and then the
archive, one window at a time, and reports how far it got.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet

from console.conversation_rows import find_messages, find_rows
from console.parameters import parse_uuid
from conversations.analytics.outcomes import RATINGS, Slice
from conversations.customers.search import customer_ids
from conversations.inbox.waiting import IS_SNOOZED
from conversations.models import (
    IS_TEST,
    ArchivedTranscript,
    Conversation,
    ConversationTag,
    Message,
)
from projects.models import Project
from tenancy.postgresql.planning import planned_for_values
from tenancy.prepared_queries import PreparedValues
from tools.models import Escalation, EscalationState

PAGE = 25
# Messages scanned by one search: about 20 ms on a small machine, more when messages are long. The page goes on by itself.
WINDOW = 20_000
# Archived transcripts scanned by one search, for about the same time.
ARCHIVE_WINDOW = 1_000
# The share of the first window that is scanned once the text has found customers: it is likely a name that nobody says.
SHARE_BESIDE_CUSTOMERS = 4
MOST_WORDS = 8
UNASSIGNED = "none"
# States of requests for a person, by filter.
REQUESTS = {
    "open": (EscalationState.WAITING, EscalationState.CLAIMED),
    "resolved": (EscalationState.RESOLVED,),
}
NEWEST = UUID(int=(1 << 128) - 1)

# The inner limit applies before the text match, so a search never scans more than one window.
HOLDING = """
select m.id from (
    select id, conversation_id, {column} as said from {table}
    where organization_id = %(organization)s and id < %(before)s order by id desc limit %(window)s
) m
join conversations_conversation c on c.organization_id = %(organization)s and c.id = m.conversation_id
where m.said ilike all (%(words)s) and c.project_id = %(project)s {narrowed}
order by m.id desc limit %(page)s + 1
"""
MESSAGES = {"table": "conversations_message", "column": "content"}
ARCHIVE = {"table": "conversations_archivedtranscript", "column": "text"}
IN_ARCHIVE = "archive-"


@dataclass(frozen=True)
class Filters:
    """List filters; an empty value matches everything.

    `assignee` is "none" or a user's key, `state` is "snoozed" or "closed", `test` is "1" for test conversations only,
    `request` selects conversations by their request for a person, "open" or "resolved", `rating` by the customer's rating,
    a key of RATINGS, and `cell` by a cell of the analytics.
    """

    channel: str = ""
    status: str = ""
    flagged: bool = False
    assignee: str = ""
    state: str = ""
    tag: UUID | None = None
    test: str = ""
    request: str = ""
    rating: str = ""
    cell: Slice = field(default_factory=Slice)

    def narrow(self, rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
        wanted = {"channel": self.channel, "status": self.status}
        rows = rows.filter(**{name: value for name, value in wanted.items() if value})
        for condition in self._conditions():
            rows = rows.filter(condition)
        return self.cell.narrow(rows)

    def _conditions(self) -> Iterator[Q]:
        if self.flagged:
            yield ~Q(flag="")
        if self.assignee:
            yield Q(assignee=None if self.assignee == UNASSIGNED else int(self.assignee))
        if self.state:
            yield IS_SNOOZED if self.state == "snoozed" else Q(closed_at__isnull=False)
        if self.tag:
            yield Q(pk__in=ConversationTag.objects.filter(tag_id=self.tag).values("conversation_id"))
        if self.test:
            yield IS_TEST
        if self.request:
            asked = Escalation.objects.filter(state__in=REQUESTS[self.request])
            yield Q(pk__in=asked.values("conversation_id"))
        if self.rating:
            yield RATINGS[self.rating]


@dataclass(frozen=True)
class Cursor:
    """The last row of a page; the next page starts after it."""

    updated_at: datetime
    id: UUID


@dataclass(frozen=True)
class Listed:
    """One page of the list, and the cursor of the next."""

    conversations: list[Conversation]
    next: Cursor | None


@dataclass(frozen=True)
class Place:
    """The row before which a search continues: a message, or an archived transcript once every message was scanned."""

    before: UUID = NEWEST
    is_archive: bool = False

    def __str__(self) -> str:
        return f"{IN_ARCHIVE if self.is_archive else ''}{self.before}"

    @classmethod
    def parse(cls, text: str) -> Place | None:
        before = parse_uuid(text.removeprefix(IN_ARCHIVE))
        return cls(before, is_archive=text.startswith(IN_ARCHIVE)) if before else None


@dataclass(frozen=True)
class MessageMatches:
    """Matching messages, newest first; of an archived transcript its newest one.

    `next` is where to continue, `back_to` the time up to which everything was scanned. Both are None at the end.
    """

    messages: list[Message]
    next: Place | None
    back_to: datetime | None


def list_conversations(project: Project, filters: Filters, *, after: Cursor | None) -> Listed:
    """The project's conversations, latest activity first."""
    rows = filters.narrow(Conversation.objects.filter(project=project))
    if after is not None:
        tie = Q(updated_at=after.updated_at, id__lt=after.id)
        # The second condition implies the first, but only the first can use the index.
        rows = rows.filter(Q(updated_at__lte=after.updated_at), Q(updated_at__lt=after.updated_at) | tie)
    ids = newest_ids(rows, most=PAGE + 1)
    found = find_rows(ids[:PAGE])
    last = found[-1] if len(ids) > PAGE else None
    return Listed(found, next=Cursor(last.updated_at, last.pk) if last else None)


def find_by_customer(project: Project, text: str, filters: Filters) -> list[Conversation]:
    """The newest conversations of customers whose name, phone number, address or external id matches the text."""
    personas = customer_ids(project, text)
    if not personas:
        return []
    rows = filters.narrow(Conversation.objects.filter(project=project, persona_id__in=personas))
    return find_rows(newest_ids(rows, most=PAGE))


def find_by_words(
    project: Project, text: str, filters: Filters, *, before: Place | None, is_beside_customers: bool = False
) -> MessageMatches:
    """Messages containing every word of the text, within one window before the given place, or a part of it."""
    words, place = text.split()[:MOST_WORDS], before or Place()
    if not words:
        return MessageMatches([], next=None, back_to=None)
    if place.is_archive:
        return _find_archived(project, words, filters, place)
    scanned = max(1, WINDOW // SHARE_BESIDE_CUSTOMERS) if is_beside_customers else WINDOW
    ids = _holding(project, words, filters, MESSAGES, before=place.before, scanned=scanned)
    found = find_messages(ids[:PAGE])
    if len(ids) > PAGE:
        return MessageMatches(found, next=Place(found[-1].pk), back_to=found[-1].created_at)
    if end := _end_of_window(scanned)(place.before):
        return MessageMatches(found, next=Place(end[0][0]), back_to=end[0][1])
    newest = _NEWEST_ARCHIVE()
    return MessageMatches(found, next=Place(is_archive=True), back_to=newest[0][1]) if newest else _last(found)


@cache
def _end_of_window(scanned: int) -> PreparedValues:
    """The last message that is scanned before a message, if there are that many."""

    def rows(before: UUID) -> QuerySet[Message, Any]:
        older = Message.objects.filter(id__lt=before).order_by("-id")
        return older.values_list("id", "created_at")[scanned - 1 : scanned]

    return PreparedValues(rows, kinds=(UUID,))


def _find_archived(project: Project, words: list[str], filters: Filters, place: Place) -> MessageMatches:
    ids = _holding(project, words, filters, ARCHIVE, before=place.before, scanned=ARCHIVE_WINDOW)
    rows = ArchivedTranscript.objects.defer("text").filter(pk__in=ids[:PAGE])
    archives = list(rows.select_related("conversation__operator", "conversation__assignee").order_by("-id"))
    found = [message for archive in archives if (message := _newest_containing(words, archive))]
    if len(ids) > PAGE:
        last = archives[-1]
        return MessageMatches(found, Place(last.pk, is_archive=True), back_to=last.conversation.updated_at)
    end = _archives(place)[ARCHIVE_WINDOW - 1 : ARCHIVE_WINDOW].first()
    return MessageMatches(found, Place(end[0], is_archive=True), back_to=end[1]) if end else _last(found)


def _archives(place: Place) -> QuerySet[ArchivedTranscript, tuple[UUID, datetime]]:
    """The id of each archived transcript before a place, and the time of its conversation's last activity."""
    rows = ArchivedTranscript.objects.filter(id__lt=place.before).order_by("-id")
    return rows.values_list("id", "conversation__updated_at")


_NEWEST_ARCHIVE = PreparedValues(lambda: _archives(Place(is_archive=True))[:1], kinds=())


def _newest_containing(words: list[str], archive: ArchivedTranscript) -> Message | None:
    """The newest message with every word. There is none if several messages have them together."""
    for message in reversed(archive.rows_of(Message)):
        content = message.content.lower()
        if all(word.lower() in content for word in words):
            message.conversation = archive.conversation
            return message
    return None


def _last(messages: list[Message]) -> MessageMatches:
    return MessageMatches(messages, next=None, back_to=None)


def newest_ids(rows: QuerySet[Conversation], *, most: int, skipped: int = 0) -> list[UUID]:
    """The keys of a page of conversations, latest activity first."""
    page = rows.order_by("-updated_at", "-id")[skipped : skipped + most]
    with planned_for_values():
        return list(page.values_list("pk", flat=True))


def _holding(
    project: Project, words: list[str], filters: Filters, source: Mapping[str, str], *, before: UUID, scanned: int
) -> list[UUID]:
    """The ids of the rows of a window with every word, newest first; at most one more than a page."""
    values: dict[str, Any] = {
        "organization": project.organization_id,
        "project": project.pk,
        "before": before,
        "window": scanned,
        "words": [_like(word) for word in words],
        "page": PAGE,
    }
    narrowed = ""
    if filters != Filters():
        rows = filters.narrow(Conversation.objects.filter(project=project)).order_by().values("pk")
        sql, own = rows.query.sql_with_params()
        names = [f"filter_{place}" for place in range(len(own))]
        narrowed = f"and c.id in ({sql % tuple(f'%({name})s' for name in names)})"
        values |= dict(zip(names, own, strict=True))
    with planned_for_values(), connection.cursor() as cursor:
        cursor.execute(HOLDING.format(narrowed=narrowed, **source), values)
        return [row[0] for row in cursor.fetchall()]


def _like(word: str) -> str:
    """The LIKE pattern for text containing the word, escaped."""
    return "%" + re.sub(r"([%_\\])", r"\\\1", word) + "%"
