"""The inbox's filters: what can be chosen, and what is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from console.inbox.query import InboxQuery
from console.search import UNASSIGNED
from conversations.handover.assignment import possible_assignees
from conversations.models import Channel, ConversationStatus, Tag, TagColor
from projects.models import User
from projects.models.permissions import Entry

STATES = (("snoozed", "Snoozed"), ("closed", "Closed"))
REQUESTS = (("open", "Open requests"), ("resolved", "Resolved requests"))


@dataclass(frozen=True)
class Chip:
    """A chosen filter, and the query string without it."""

    words: str
    without: str


def filter_context(entry: Entry, query: InboxQuery) -> dict[str, Any]:
    """The choices of the filter menu, and the chosen filters as chips."""
    tags, people = list(Tag.objects.filter(project=entry.project)), possible_assignees()
    return {
        "channels": Channel.choices,
        "statuses": ConversationStatus.choices,
        "states": STATES,
        "requests": REQUESTS,
        "all_tags": tags,
        "tag_colors": TagColor.choices,
        "people": people,
        "chips": list(_chips(query, tags=tags, people=people)),
    }


def _chips(query: InboxQuery, *, tags: list[Tag], people: list[User]) -> Iterator[Chip]:
    filters = query.filters
    names = {str(user.pk): user.name for user in people} | {UNASSIGNED: "Unassigned"}
    labels = {
        "channel": dict(Channel.choices).get(filters.channel),
        "status": dict(ConversationStatus.choices).get(filters.status),
        "flagged": "Flagged" if filters.flagged else None,
        "assignee": names.get(filters.assignee, "A former member") if filters.assignee else None,
        "state": dict(STATES).get(filters.state),
        "tag": next((tag.name for tag in tags if tag.pk == filters.tag), "A deleted tag") if filters.tag else None,
        "test": "Test conversations" if filters.test else None,
        "request": dict(REQUESTS).get(filters.request),
    }
    for name, words in labels.items():
        if words:
            yield Chip(str(words), query.address(**{name: ""}))
