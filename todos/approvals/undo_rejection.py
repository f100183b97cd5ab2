"""Undoing a rejection, before the customer hears of it."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext

from jobs.errors import WrongState
from todos.approvals.approve import approval_deadline
from todos.content.lifecycle import REJECTED, Actor
from todos.content.versions import begin_version, get_for_update
from todos.models import Todo, TodoStatus

# Until then, the agent isn't told of a rejection.
UNDO_PERIOD = timedelta(seconds=30)
UNDONE = "rejection_undone"


def undo_rejection(todo_id: UUID, *, actor: Actor) -> Todo:
    """Return a todo that the same person has just rejected to review. Its promise is open again.

    Raises Http404 and WrongState, also after UNDO_PERIOD and for a todo whose effect the rejection has cancelled.
    """
    todo = get_for_update(todo_id)
    entry = todo.history.order_by("-at", "-id").first()
    if todo.status != TodoStatus.REJECTED or entry is None or entry.what != REJECTED or entry.actor_id != actor.id:
        raise WrongState(
            gettext("Only your own rejection can be undone, and only while nothing else has changed the todo.")
        )
    if todo.effect_id is not None:
        raise WrongState(gettext("The rejection has canceled this todo’s action. Create a new todo instead."))
    if entry.at < timezone.now() - UNDO_PERIOD:
        raise WrongState(gettext("It’s too late to undo the rejection. Create a new todo instead."))
    todo.expires_at = approval_deadline(todo)
    todo.save(update_fields=["expires_at"])
    begin_version(todo, what=UNDONE, actor=actor)
    return todo
