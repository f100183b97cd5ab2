"""The CSV of todos."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from console.csv_export import Batch, CsvList, page_by_id
from console.todos.labels import SOURCES, STATUS_LABELS
from console.todos.listing import narrowed, parse_query
from conversations.common.customer_names import customer_names
from projects.models.permissions import Entry
from todos.models import Todo
from tools.engine.tool_words import capitalized


@dataclass(frozen=True)
class Line:
    """A todo with its customer's name."""

    todo: Todo
    customer: str


def read_todos(entry: Entry, parameters: QueryDict, after: Any) -> Batch[Line]:
    """The todos that the list's status, type and source select."""
    rows = narrowed(Todo.objects.filter(project=entry.project), parse_query(parameters)).select_related(
        "type", "promise"
    )
    found = page_by_id(rows, after)
    names = customer_names({row.persona_id for row in found.rows if row.persona_id})
    return Batch([Line(row, names.get(row.persona_id, "") if row.persona_id else "") for row in found.rows], found.next)


TODOS: CsvList[Line] = CsvList(
    name="todos",
    columns={
        "Todo": lambda line: line.todo.description.strip(),
        "Status": lambda line: STATUS_LABELS[line.todo.status].word,
        "Reason": lambda line: line.todo.reason,
        "Type": lambda line: line.todo.type.name if line.todo.type else "",
        "Source": lambda line: capitalized(SOURCES[line.todo.source]),
        "Customer": lambda line: line.customer,
        "Tool": lambda line: line.todo.tool,
        "Assigned to": lambda line: line.todo.taker,
        "Version": lambda line: line.todo.version,
        "Created": lambda line: line.todo.created_at,
        "Status since": lambda line: line.todo.status_at,
        "Due": lambda line: line.todo.promise_due_at,
        "Expires": lambda line: line.todo.expires_at,
        "Todo ID": lambda line: line.todo.pk,
        "Conversation ID": lambda line: line.todo.conversation_id,
    },
    read=read_todos,
)
