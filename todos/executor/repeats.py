"""Repeats among the effects of todos."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q

from tenancy.postgresql.prepared import Prepared
from tenancy.prepared_queries import PreparedQuery
from todos.models import Approval, Todo
from tools.engine.execution.deduplication import EXECUTED_STATES, find_duplicate
from tools.models import Effect

EARLIER_RUNS = PreparedQuery(
    lambda todo, approval, effect, same, tool, recipient: (
        Effect.objects.filter(
            (Q(repeat_key=same) & ~Q(repeat_key="")) | (Q(tool=tool, recipient=recipient) & ~Q(recipient="")),
            todo_calls__step__todo=todo,
            state__in=EXECUTED_STATES,
        )
        .exclude(todo_calls__step__approval=approval)
        .exclude(pk=effect)
        .order_by("-started_at")[:1]
    ),
    kinds=(UUID, UUID, UUID, str, str, str),
)
_LOCK_REPEAT_KEY = Prepared("select 1 from pg_advisory_xact_lock(hashtextextended(%s, 0))")


def find_repeated(todo: Todo, approval: Approval, effect: Effect) -> Effect | None:
    """The earlier effect that this one repeats, unless staff chose to repeat it. Runs in the transaction that starts
    the effect.

    Any effect of an earlier run of the same todo counts, however old. Other effects count if they do the same within
    the window of their kind: two different texts to one customer, each approved, are no repeat.

    Of two todos that start the same effect at once, the second sees the first. The same holds for a todo and a turn,
    because both lock the conversation.
    """
    if effect.resolved_at is not None:
        return None
    _lock_repeat_key(effect)
    earlier = _from_earlier_runs(todo, approval, effect) or find_duplicate(effect)
    return None if earlier is None or _is_repeat_wanted(earlier, approval) else earlier


def _is_repeat_wanted(earlier: Effect, approval: Approval) -> bool:
    """True if staff chose to repeat the earlier effect, or to execute one that was held back because of it."""
    if str(earlier.pk) in approval.repeats:
        return True
    return bool(approval.repeats) and Effect.objects.filter(pk__in=approval.repeats, repeats=earlier.pk).exists()


def _from_earlier_runs(todo: Todo, approval: Approval, effect: Effect) -> Effect | None:
    if approval.version == 1:
        return None
    same = EARLIER_RUNS(todo.pk, approval.pk, effect.pk, effect.repeat_key, effect.tool, effect.recipient)
    return next(iter(same), None)


def _lock_repeat_key(effect: Effect) -> None:
    if effect.repeat_key:
        _LOCK_REPEAT_KEY(effect.repeat_key)
