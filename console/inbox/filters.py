"""The inbox's filters: what can be chosen, and what is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.translation import gettext

from console.inbox.query import CELL, InboxQuery
from console.inbox.reasons import LABELS
from console.search import UNASSIGNED
from console.timestamps import short_date
from conversations.analytics.definitions import DEFINITIONS
from conversations.analytics.outcomes import NONE, Slice
from conversations.handover.assignment import possible_assignees
from conversations.inbox.tags import list_tags
from conversations.inbox.waiting import Reason
from conversations.models import Channel, ConversationStatus, Tag, TagColor
from projects.common.translation import lazy
from projects.models import User
from projects.models.permissions import Entry
from tools.engine.tool_words import title_of_tool

STATES = (("snoozed", lazy("Snoozed")), ("closed", lazy("Closed")))
RATINGS = (("any", lazy("Rated")), ("good", lazy("4 or 5 stars")), ("bad", lazy("1 or 2 stars")))
REQUESTS = (("open", lazy("Open requests")), ("resolved", lazy("Resolved requests")))


@dataclass(frozen=True)
class Chip:
    """A chosen filter, and the query string without it."""

    words: str
    without: str


def filter_context(entry: Entry, query: InboxQuery) -> dict[str, Any]:
    """The choices of the filter menu, and the chosen filters as chips."""
    tags, people = list_tags(entry.project), possible_assignees()
    return {
        "channels": Channel.choices,
        "statuses": ConversationStatus.choices,
        "states": STATES,
        "requests": REQUESTS,
        "ratings": RATINGS,
        "all_tags": tags,
        "cell_fields": [(name, value) for name in CELL if (value := getattr(query.filters.cell, name))],
        "tag_colors": TagColor.choices,
        "people": people,
        "chips": list(_chips(query, tags=tags, people=people)),
    }


def _chips(query: InboxQuery, *, tags: list[Tag], people: list[User]) -> Iterator[Chip]:
    filters = query.filters
    names = {str(user.pk): user.name for user in people} | {UNASSIGNED: gettext("Unassigned")}
    labels = {
        "channel": dict(Channel.choices).get(filters.channel),
        "status": dict(ConversationStatus.choices).get(filters.status),
        "flagged": gettext("Flagged") if filters.flagged else None,
        "assignee": names.get(filters.assignee, gettext("A former member")) if filters.assignee else None,
        "state": dict(STATES).get(filters.state),
        "tag": next((tag.name for tag in tags if tag.pk == filters.tag), gettext("A deleted tag"))
        if filters.tag
        else None,
        "test": gettext("Test conversations") if filters.test else None,
        "request": dict(REQUESTS).get(filters.request),
        "rating": dict(RATINGS).get(filters.rating),
        "reason": LABELS[Reason(query.reason)].words if query.reason else None,
        **_cell_labels(filters.cell),
    }
    for name, words in labels.items():
        if words:
            yield Chip(str(words), query.address(**{name: ""}))


def _cell_labels(cell: Slice) -> dict[str, str | None]:
    return {
        "since": gettext("Since %(since)s") % {"since": _day(cell.since)} if cell.since else None,
        "until": gettext("Until %(until)s") % {"until": _day(cell.until)} if cell.until else None,
        "hour": gettext("Started between %(hour)s:00 and %(hour)s:59") % {"hour": f"{int(cell.hour):02d}"}
        if cell.hour
        else None,
        "outcome": DEFINITIONS[cell.outcome].label if cell.outcome else None,
        "topic": gettext("No topic")
        if cell.topic == NONE
        else cell.topic and gettext("Topic: %(topic)s") % {"topic": cell.topic},
        "tool": cell.tool and gettext("Tool: %(tool)s") % {"tool": title_of_tool(cell.tool)},
    }


def _day(text: str) -> str:
    day = date.fromisoformat(text)
    return short_date(day)
