"""The CSV of tickets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from console.csv_export import Batch, CsvList, page_by_id
from console.inbox.query import parse_query
from console.inbox.ticket_list import LABELS
from conversations.common.customer_names import customer_names
from projects.models.permissions import Entry
from tools.models import Ticket


@dataclass(frozen=True)
class Line:
    """A ticket with its customer's name."""

    ticket: Ticket
    customer: str


def read_tickets(entry: Entry, parameters: QueryDict, after: Any) -> Batch[Line]:
    """The tickets in the chosen state."""
    rows = Ticket.objects.filter(project=entry.project, state=parse_query(parameters).ticket_state)
    found = page_by_id(rows.select_related("assignee"), after)
    names = customer_names({row.persona_id for row in found.rows if row.persona_id})
    return Batch([Line(row, names.get(row.persona_id, "") if row.persona_id else "") for row in found.rows], found.next)


TICKETS: CsvList[Line] = CsvList(
    name="tickets",
    columns={
        "Number": lambda line: line.ticket.number,
        "Subject": lambda line: line.ticket.subject,
        "State": lambda line: LABELS[line.ticket.state],
        "Priority": lambda line: line.ticket.get_priority_display(),
        "Customer": lambda line: line.customer,
        "Assigned to": lambda line: line.ticket.assignee.name if line.ticket.assignee else "",
        "Text": lambda line: line.ticket.body,
        "Created": lambda line: line.ticket.created_at,
        "Updated": lambda line: line.ticket.updated_at,
        "Closed": lambda line: line.ticket.closed_at,
        "Ticket ID": lambda line: line.ticket.pk,
        "Conversation ID": lambda line: line.ticket.conversation_id,
    },
    read=read_tickets,
)
