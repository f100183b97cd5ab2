"""Change tokens: short strings that stay the same until the displayed todos change."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Count, Max

from tenancy.prepared_queries import PreparedValues
from todos.models import TodoCall, TodoEvent, TodoStep
from tools.models import Effect


def change_token(todo_id: UUID | None) -> str:
    """Token for the tenant's board and, if given, one todo in detail. Each part is an index lookup."""
    newest = (rows[0][0] if rows else None for rows in (_NEWEST_OF_ALL(), _NEWEST_STEP()))
    return "-".join(str(part) for part in (*newest, *(_detail_token(todo_id) if todo_id else ())))


_NEWEST_OF_ALL = PreparedValues(lambda: TodoEvent.objects.order_by("-id").values_list("id")[:1], kinds=())
_NEWEST_STEP = PreparedValues(lambda: TodoStep.objects.order_by("-id").values_list("id")[:1], kinds=())


def conversation_token(conversation_id: UUID) -> str:
    """Token for the todos of one conversation."""
    newest = _NEWEST_EVENT(conversation_id)
    return str(newest[0][0] if newest else None)


_NEWEST_EVENT = PreparedValues(
    lambda conversation: (
        TodoEvent.objects.filter(todo__conversation_id=conversation).order_by("-id").values_list("id")[:1]
    ),
    kinds=(UUID,),
)


def _detail_token(todo_id: UUID) -> tuple[object, ...]:
    """The todo's calls and the states of their effects."""
    calls = TodoCall.objects.filter(step__todo_id=todo_id)
    counted = calls.aggregate(made=Count("id"), ended=Count("finished_at"), last=Max("step__finished_at"))
    effects = Effect.objects.filter(todo_calls__step__todo_id=todo_id).order_by("id").values_list("state", flat=True)
    return (counted["made"], counted["ended"], counted["last"] and counted["last"].timestamp(), *effects)
