"""The inbox's query string: the tab, the filters, the search, and the place in the list."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from urllib.parse import urlencode
from uuid import UUID

from django.http import QueryDict

from console.parameters import parse_choice, parse_days, parse_reference
from console.search import REQUESTS, UNASSIGNED, Cursor, Filters, Place
from conversations.analytics.outcomes import OUTCOMES, RATINGS, Slice
from conversations.inbox.waiting import Reason, Waiting
from conversations.models import Channel, ConversationStatus
from tools.models import TicketState

LONGEST_SEARCH = 200
WAITING, MINE, ALL, TICKETS = "waiting", "mine", "all", "tickets"
VIEWS = (WAITING, MINE, ALL, TICKETS)
STATES = ("snoozed", "closed")
CELL = ("since", "until", "hour", "outcome", "topic", "tool")


@dataclass(frozen=True)
class InboxQuery:
    """A parsed query string. A search and any filter but the assignee look through all conversations.

    `reason` selects waiting conversations by their main reason. `after` continues the list by activity, `before` a search,
    and `page` lists without a cursor.
    """

    view: str = WAITING
    text: str = ""
    filters: Filters = field(default_factory=Filters)
    ticket_state: str = TicketState.OPEN.value
    reason: str = ""
    after: Cursor | None = None
    before: Place | None = None
    page: int = 1

    @property
    def is_narrowed(self) -> bool:
        return self.filters != Filters() or bool(self.reason)

    @property
    def is_first(self) -> bool:
        return self.after is None and self.before is None and self.page == 1

    def waiting_ids(self, waiting: Waiting) -> list[UUID]:
        """The conversations that wait, for the chosen reason if there is one."""
        return waiting.main_reasons.get(Reason(self.reason), []) if self.reason else waiting.ids

    def in_zone(self, timezone: str) -> InboxQuery:
        """The query with its days and hours in a time zone."""
        cell = replace(self.filters.cell, timezone=timezone)
        return replace(self, filters=replace(self.filters, cell=cell))

    def address(self, **changes: str) -> str:
        """Query string of the first page with changes applied; empty values are left out."""
        filters = self.filters
        known = {
            "view": "" if self.view == WAITING else self.view,
            "q": self.text,
            "channel": filters.channel,
            "status": filters.status,
            "flagged": "1" if filters.flagged else "",
            "assignee": filters.assignee,
            "state": self.ticket_state if self.view == TICKETS else filters.state,
            "tag": str(filters.tag or ""),
            "test": filters.test,
            "request": filters.request,
            "rating": filters.rating,
            "reason": self.reason,
            **{name: getattr(filters.cell, name) for name in CELL},
        }
        chosen = urlencode({name: value for name, value in (known | changes).items() if value})
        return f"?{chosen}" if chosen else ""

    @cached_property
    def here(self) -> str:
        return self.address()


def parse_query(parameters: QueryDict) -> InboxQuery:
    """The query, with invalid cursors ignored. Raises UnknownFilter."""
    # Conversations and tickets have different states.
    state = parse_choice(parameters, "state", dict.fromkeys((*STATES, *TicketState.values)))
    asked = InboxQuery(
        view=parse_choice(parameters, "view", VIEWS) or WAITING,
        text=parameters.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH],
        filters=_filters(parameters, state=state if state in STATES else ""),
        ticket_state=state if state in TicketState else TicketState.OPEN.value,
        reason=parse_choice(parameters, "reason", [reason.value for reason in Reason]),
        after=_decode_cursor(parameters.get("after", "")),
        before=Place.parse(parameters.get("before", "")),
        page=_page(parameters.get("page", "")),
    )
    filters = asked.filters
    narrowed = (filters.state, filters.request, filters.status, filters.rating)
    looks_through_all = asked.text or any(narrowed) or filters.cell != Slice()
    return replace(asked, view=ALL) if looks_through_all and asked.view == WAITING else asked


def encode_cursor(place: Cursor) -> str:
    return urlsafe_b64encode(f"{place.id} {place.updated_at.isoformat()}".encode()).decode()


def _filters(parameters: QueryDict, *, state: str) -> Filters:
    return Filters(
        channel=parse_choice(parameters, "channel", Channel.values),
        status=parse_choice(parameters, "status", ConversationStatus.values),
        flagged=bool(parse_choice(parameters, "flagged", ["1"])),
        assignee=_assignee(parameters),
        state=state,
        tag=parse_reference(parameters, "tag"),
        test=parse_choice(parameters, "test", ["1"]),
        request=parse_choice(parameters, "request", tuple(REQUESTS)),
        rating=parse_choice(parameters, "rating", tuple(RATINGS)),
        cell=parse_cell(parameters),
    )


def _assignee(parameters: QueryDict) -> str:
    """A member's key, or UNASSIGNED. A key that no member has any more stays: its list says so."""
    text = parameters.get("assignee", "")
    is_key = text.isascii() and text.isdigit() and len(text) < 10
    return text if is_key else parse_choice(parameters, "assignee", [UNASSIGNED])


def parse_cell(parameters: QueryDict) -> Slice:
    """The cell of the analytics, as a filter. Raises UnknownFilter."""
    since, until = parse_days(parameters)
    return Slice(
        since=since,
        until=until,
        hour=parse_choice(parameters, "hour", [str(hour) for hour in range(24)]),
        outcome=parse_choice(parameters, "outcome", list(OUTCOMES)),
        topic=parameters.get("topic", "").replace("\x00", "")[:LONGEST_SEARCH],
        tool=parameters.get("tool", "").replace("\x00", "")[:LONGEST_SEARCH],
    )


def _page(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and 0 < len(text) < 5
    return max(1, int(text)) if is_number else 1


def _decode_cursor(text: str) -> Cursor | None:
    """The decoded cursor, or None if it is invalid, which starts the list from the top."""
    try:
        id, _, updated_at = urlsafe_b64decode(text).decode().partition(" ")
        place = Cursor(updated_at=datetime.fromisoformat(updated_at), id=UUID(id))
    except ValueError:
        return None
    return place if place.updated_at.tzinfo else None
