"""The todo list, filtered by status, type and source, with bulk approval and rejection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext

from console.parameters import parse_choice, parse_reference, parse_uuid
from console.todos.board import MOST_COUNTED, count_text, status_counts
from console.todos.cards import Card, cards_of
from console.todos.contacts import contacts_of
from console.todos.labels import SOURCES, STATUS_LABELS, undeliverable_warning
from projects.models.permissions import Entry
from tenancy.postgresql.planning import planned_for_values
from todos.approvals.validity import may_approve, undeliverable_of, why_not_runnable
from todos.content.deliverability import TextRefusal
from todos.content.snapshot import compiled_tools, content_of, hash_of
from todos.models import Todo, TodoSource, TodoStatus, TodoType
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.handler import Contact
from tools.engine.tool_words import capitalized
from tools.services.messaging.sms import TextRules

PAGE = 50
LIST = "list"


@dataclass(frozen=True)
class ListQuery:
    """Filters from the query string; an empty value means no filter."""

    state: str
    type: UUID | None
    source: str
    before: UUID | None

    def address(self, **changes: Any) -> str:
        """Query string with changes applied; empty values are left out."""
        known = {"view": LIST, "state": self.state, "type": self.type, "source": self.source}
        return "?" + urlencode({name: value for name, value in (known | changes).items() if value})


@dataclass(frozen=True)
class Tab:
    label: str
    count: str
    address: str
    is_open: bool


@dataclass(frozen=True)
class Row:
    """A todo in the list. `choice` is its checkbox value, empty unless it is pending. One that isn't `approvable` can
    only be rejected from here. `warnings` is about undeliverable messages.
    """

    card: Card
    choice: str
    approvable: bool = False
    warnings: Sequence[str] = ()


def parse_query(parameters: QueryDict) -> ListQuery:
    return ListQuery(
        state=parse_choice(parameters, "state", TodoStatus.values),
        type=parse_reference(parameters, "type"),
        source=parse_choice(parameters, "source", TodoSource.values),
        before=parse_uuid(parameters.get("before", "")),
    )


def list_of(entry: Entry, query: ListQuery, *, zone: str) -> dict[str, Any]:
    """Context for `todos/list.html`. Requires the tenant's transaction."""
    project, tools = entry.project, compiled_tools(entry.project)
    own = Todo.objects.filter(project=project).select_related("type", "project", "effect", "promise")
    with planned_for_values():
        found = list(narrowed(own, query).order_by("-created_at", "-id")[: PAGE + 1])
    shown = found[:PAGE]
    counts = status_counts(project)
    rows = rows_of(shown, entry, tools=tools, zone=zone)
    return {
        "query": query,
        "tabs": _tabs(query, counts),
        "types": list(TodoType.objects.filter(project=project, is_removed=False)),
        "sources": [(value, capitalized(words)) for value, words in SOURCES.items()],
        "rows": rows,
        "can_choose": any(row.choice for row in rows),
        "next": query.address(before=shown[-1].pk) if len(found) > PAGE else "",
        "is_first": query.before is None,
        "has_any": bool(counts),
    }


def rows_of(todos: Sequence[Todo], entry: Entry, *, tools: Mapping[str, CompiledTool], zone: str) -> list[Row]:
    """A row for each todo, in the same order."""
    cards = cards_of(todos, tools=tools, zone=zone)
    contacts = contacts_of({todo.persona_id for todo in todos})
    text_refusal = TextRules(entry.project).refusal
    rows = []
    for todo, card in zip(todos, cards, strict=True):
        choice = _choice(todo, tools, contacts)
        approvable = bool(choice) and _is_approvable(todo, entry, tools, contacts, text_refusal)
        unsent = undeliverable_of(todo, tools=tools, contacts=contacts, text_refusal=text_refusal) if approvable else []
        rows.append(Row(card, choice, approvable, [undeliverable_warning(one.kind) for one in unsent]))
    return rows


def narrowed(rows: QuerySet[Todo], query: ListQuery) -> QuerySet[Todo]:
    """The todos, of a project's, that the filters select, on from `before`."""
    after = rows.filter(pk=query.before).first() if query.before else None
    wanted = {"status": query.state, "type_id": query.type, "source": query.source}
    rows = rows.filter(**{name: value for name, value in wanted.items() if value})
    return rows.filter(created_at__lte=after.created_at, pk__lt=after.pk) if after else rows


def _choice(todo: Todo, tools: Mapping[str, CompiledTool], contacts: Mapping[UUID, Contact]) -> str:
    """The checkbox value `id:version:hash`, or an empty string if the todo isn't pending."""
    if todo.status != TodoStatus.PENDING_REVIEW:
        return ""
    return f"{todo.pk}:{todo.version}:{hash_of(content_of(todo, tools=tools, contacts=contacts))}"


def _is_approvable(
    todo: Todo,
    entry: Entry,
    tools: Mapping[str, CompiledTool],
    contacts: Mapping[UUID, Contact],
    text_refusal: TextRefusal,
) -> bool:
    """Return True if the member can approve the pending todo as it is."""
    problem = why_not_runnable(todo, tools=tools, contacts=contacts, text_refusal=text_refusal)
    return not problem and may_approve(todo, entry.member.role)


def _tabs(query: ListQuery, counts: Mapping[str, int]) -> list[Tab]:
    every = Tab(
        gettext("All"),
        count_text(min(MOST_COUNTED, sum(counts.values()))),
        query.address(state=""),
        is_open=not query.state,
    )
    return [
        every,
        *(
            Tab(
                label.word,
                count_text(counts.get(status, 0)),
                query.address(state=status),
                is_open=status == query.state,
            )
            for status, label in STATUS_LABELS.items()
        ),
    ]
