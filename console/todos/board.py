"""The board: todos in four columns by status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from console.effects.labels import StateLabel
from console.todos.cards import Card, cards_of
from console.todos.labels import STATUS_LABELS
from projects.common.translation import lazy
from projects.models import Project
from todos.content.snapshot import compiled_tools
from todos.models import Todo, TodoStatus

# Cards per column; the list shows the rest.
MOST_CARDS = 20
# Counting stops here: an exact count would scan every todo of the project.
MOST_COUNTED = 1_000
COUNTS = """
select state, (select count(*) from (
    select from todos_todo where organization_id = %s and project_id = %s and status = state limit %s
) counted) from unnest(%s::text[]) state
"""
S = TodoStatus


@dataclass(frozen=True)
class ColumnSpec:
    """A column's statuses and its text while empty."""

    name: str
    label: StateLabel
    states: Sequence[TodoStatus]
    empty: str


COLUMNS = (
    ColumnSpec(
        "review",
        STATUS_LABELS[S.PENDING_REVIEW],
        (S.PENDING_REVIEW,),
        lazy("Nothing to review. Todos from conversations, tools and promises appear here."),
    ),
    ColumnSpec(
        "motion",
        StateLabel("act", "loader-2", lazy("In progress")),
        (S.IN_PROGRESS, S.APPROVED),
        lazy("Approved todos run here."),
    ),
    ColumnSpec(
        "attention",
        STATUS_LABELS[S.NEEDS_ATTENTION],
        (S.NEEDS_ATTENTION, S.FAILED),
        lazy("Failures and unknown outcomes appear here."),
    ),
    ColumnSpec(
        "done",
        StateLabel("ok", "circle-check", lazy("Done")),
        (S.COMPLETED, S.REJECTED, S.EXPIRED, S.CANCELLED),
        lazy("Completed, rejected, expired and canceled todos appear here."),
    ),
)


@dataclass(frozen=True)
class Column:
    """A column with its newest cards."""

    spec: ColumnSpec
    cards: list[Card]
    count: int
    parts: list[tuple[StateLabel, int]]

    @property
    def total(self) -> str:
        return count_text(self.count)

    @property
    def has_more(self) -> bool:
        return self.count > len(self.cards)


def board_of(project: Project, *, zone: str, with_done: bool) -> dict[str, Any]:
    """Context for the board. The Done column has a count but no cards unless `with_done` is set."""
    counts = status_counts(project)
    shown = [spec for spec in COLUMNS if with_done or spec.name != "done"]
    newest = {spec.name: _newest(project, spec, counts) for spec in shown}
    cards = {
        card.id: card
        for card in cards_of(
            [todo for found in newest.values() for todo in found], tools=compiled_tools(project), zone=zone
        )
    }
    columns = [
        Column(
            spec,
            [cards[todo.pk] for todo in newest.get(spec.name, [])],
            min(MOST_COUNTED, sum(counts.get(state, 0) for state in spec.states)),
            _parts(spec, counts),
        )
        for spec in COLUMNS
    ]
    return {"columns": columns, "has_any": bool(counts), "done_is_shown": with_done}


def status_counts(project: Project) -> Mapping[str, int]:
    """Todo counts by status, without zeros. Each count stops at MOST_COUNTED."""
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, [project.organization_id, project.pk, MOST_COUNTED, [*TodoStatus]])
        return {status: count for status, count in cursor.fetchall() if count}


def count_text(count: int) -> str:
    """A count for display, such as "12" or "999+"."""
    return f"{MOST_COUNTED - 1}+" if count >= MOST_COUNTED else str(count)


def _newest(project: Project, spec: ColumnSpec, counts: Mapping[str, int]) -> list[Todo]:
    """The newest todos of a column. One query per status, so that each uses the index."""
    found: list[Todo] = []
    for state in spec.states:
        if counts.get(state):
            rows = Todo.objects.filter(project=project, status=state).select_related("type", "promise")
            found += rows.order_by("-status_at", "-id")[:MOST_CARDS]
    if spec.name == "motion":
        return found
    return sorted(found, key=lambda todo: (todo.status_at, todo.pk), reverse=True)[:MOST_CARDS]


def _parts(spec: ColumnSpec, counts: Mapping[str, int]) -> list[tuple[StateLabel, int]]:
    """Counts by status for a column with several statuses; empty for the others."""
    parts = [(STATUS_LABELS[state], counts[state]) for state in spec.states if counts.get(state)]
    return parts if len(spec.states) > 1 else []
