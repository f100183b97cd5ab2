"""Todos for promises that a person has to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.db.models import Q

from todos.models import Todo, TodoStatus
from tools.models import Promise, PromiseOwner

OPEN_STATUSES = (
    TodoStatus.PENDING_REVIEW,
    TodoStatus.APPROVED,
    TodoStatus.IN_PROGRESS,
    TodoStatus.NEEDS_ATTENTION,
)


def find_todos(promises: Sequence[Promise]) -> Mapping[UUID, Todo]:
    """The open todo of each promise that a person has to keep, by the promise's id.

    A promise in the same words for the same time as an earlier one of its conversation shares the earlier one's todo.
    """
    left = [one for one in promises if one.owner == PromiseOwner.STAFF]
    if not left:
        return {}
    own = Q(promise__in=[one.pk for one in left]) | Q(effect__in=[one.effect_id for one in left if one.effect_id])
    shared = Q(conversation_id__in={one.conversation_id for one in left}, quote__in={one.quote for one in left})
    rows = Todo.objects.select_related("promise").filter(own | shared, status__in=OPEN_STATUSES)
    todos = list(rows.order_by("created_at", "id"))
    return {one.pk: todo for one in left if (todo := _todo_of(one, todos)) is not None}


def _todo_of(promise: Promise, todos: Sequence[Todo]) -> Todo | None:
    """The promise's own todo, or else the one with its words for its time."""
    own = [
        one for one in todos if one.promise_id == promise.pk or (one.effect_id and one.effect_id == promise.effect_id)
    ]
    same = [one for one in todos if one.conversation_id == promise.conversation_id and _has_words_of(one, promise)]
    return next(iter(own + same), None)


def _has_words_of(todo: Todo, promise: Promise) -> bool:
    is_for_its_time = todo.promise is None or todo.promise.promised_for == promise.promised_for
    return todo.quote == promise.quote and is_for_its_time
