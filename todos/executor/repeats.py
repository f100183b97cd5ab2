"""What a todo's effect would do a second time (E6, T11)."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q

from tenancy.postgresql.prepared import Prepared
from tenancy.prepared_queries import PreparedQuery
from todos.models import Approval, Todo
from tools.engine.execution.repeats import STANDING, find_same
from tools.models import Effect

EARLIER_RUNS = PreparedQuery(
    lambda todo, approval, effect, same, tool, recipient: (
        Effect.objects.filter(
            (Q(repeat_key=same) & ~Q(repeat_key="")) | (Q(tool=tool, recipient=recipient) & ~Q(recipient="")),
            todo_calls__step__todo=todo,
            state__in=STANDING,
        )
        .exclude(todo_calls__step__approval=approval)
        .exclude(pk=effect)
        .order_by("-started_at")[:1]
    ),
    kinds=(UUID, UUID, UUID, str, str, str),
)
_ONE_AT_A_TIME = Prepared("select 1 from pg_advisory_xact_lock(hashtextextended(%s, 0))")


def repeated_by(todo: Todo, approval: Approval, effect: Effect) -> Effect | None:
    """What was done already and isn't ticked to be done once more; inside the transaction that begins the effect.

    Whatever an earlier run of the same todo did counts, however long ago; else the same thing within the window of its kind:
    two different texts to one customer, each of them approved, are no repeat.
    Of two todos that begin the same at once the second sees the first; and so does one that begins what a turn does, because both
    have locked the conversation.
    """
    if effect.resolved_at is not None:
        return None
    _wait_for_others(effect)
    earlier = _of_earlier_runs(todo, approval, effect) or find_same(effect)
    return None if earlier is None or _is_ticked(earlier, approval) else earlier


def _is_ticked(earlier: Effect, approval: Approval) -> bool:
    """Whether it is to be done once more: what was done is ticked, or what was held back because of it."""
    if str(earlier.pk) in approval.repeats:
        return True
    return bool(approval.repeats) and Effect.objects.filter(pk__in=approval.repeats, repeats=earlier.pk).exists()


def _of_earlier_runs(todo: Todo, approval: Approval, effect: Effect) -> Effect | None:
    if approval.version == 1:
        return None
    same = EARLIER_RUNS(todo.pk, approval.pk, effect.pk, effect.repeat_key, effect.tool, effect.recipient)
    return next(iter(same), None)


def _wait_for_others(effect: Effect) -> None:
    if effect.repeat_key:
        _ONE_AT_A_TIME(effect.repeat_key)
