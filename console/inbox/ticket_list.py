"""The inbox's list of tickets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count

from console.access import zone_of
from console.inbox.query import InboxQuery
from console.timestamps import Timestamp, format_timestamp
from conversations.common.customer_names import customer_names
from projects.common.translation import lazy, plazy
from projects.models.permissions import Entry
from tools.models import Ticket, TicketState

PAGE = 50
UNNAMED = lazy("Unnamed customer")
LABELS = {
    TicketState.OPEN.value: plazy("ticket", "Open"),
    TicketState.PENDING.value: plazy("ticket", "Pending"),
    TicketState.CLOSED.value: plazy("ticket", "Closed"),
}
NONE = {
    TicketState.OPEN.value: lazy("No open tickets"),
    TicketState.PENDING.value: lazy("No pending tickets"),
    TicketState.CLOSED.value: lazy("No closed tickets"),
}
TONES = {"urgent": ("bad", "alert-triangle"), "high": ("warn", "chevron-up")}


@dataclass(frozen=True)
class Tab:
    """A state of tickets with its count."""

    value: str
    label: str
    count: int
    is_open: bool


@dataclass(frozen=True)
class Row:
    """A ticket in the list. `tone` and `icon` are empty for normal and low priority."""

    id: UUID
    number: int
    subject: str
    priority: str
    tone: str
    icon: str
    customer: str
    assignee: str
    at: Timestamp


def ticket_list_context(entry: Entry, query: InboxQuery) -> dict[str, Any]:
    """Tickets in one state, most recently updated first."""
    own = Ticket.objects.filter(project=entry.project)
    counts = dict(own.order_by().values_list("state").annotate(Count("pk")))
    found = own.filter(state=query.ticket_state).select_related("assignee").order_by("-updated_at", "-number")
    shown = list(found[(query.page - 1) * PAGE : query.page * PAGE + 1])
    return {
        "ticket_tabs": [
            Tab(state, label, counts.get(state, 0), state == query.ticket_state) for state, label in LABELS.items()
        ],
        "ticket_rows": _rows(entry, shown[:PAGE]),
        "has_tickets": bool(counts),
        "no_tickets": NONE[query.ticket_state],
        "next": query.address(page=str(query.page + 1)) if len(shown) > PAGE else "",
    }


def _rows(entry: Entry, found: list[Ticket]) -> list[Row]:
    names = customer_names([row.persona_id for row in found if row.persona_id])
    return [
        Row(
            id=row.pk,
            number=row.number,
            subject=row.subject,
            priority=row.get_priority_display(),
            tone=TONES.get(row.priority, ("", ""))[0],
            icon=TONES.get(row.priority, ("", ""))[1],
            customer=names.get(row.persona_id, UNNAMED) if row.persona_id else "",
            assignee=row.assignee.name if row.assignee else "",
            at=format_timestamp(row.updated_at, zone=zone_of(entry)),
        )
        for row in found
    ]
