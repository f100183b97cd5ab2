"""Completion by hand: a person takes a todo on and reports the outcome.

pending_review, approved, needs_attention → in_progress (taken) → completed, failed, cancelled, or back to review

Taking on a pending todo approves it as it was seen. Taking it on ends its approvals, so no worker executes any of it.
"""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext

from jobs.errors import WrongState
from projects.common.api_error import Conflict
from projects.common.translation import lazy
from projects.models import ApiKey, Member
from todos.approvals.approve import record_approval, require_in_time
from todos.approvals.permissions import Approver, require_permission
from todos.approvals.validity import OUTCOME_UNKNOWN
from todos.content.lifecycle import Actor, transition
from todos.content.snapshot import content_of
from todos.content.versions import end_approvals, get_for_update, require_seen
from todos.hooks import effect_changed
from todos.models import Todo, TodoStatus
from tools.engine import ledger
from tools.engine.promises import keep_promise, settle_promises
from tools.models import Effect, EffectState, Evidence, Promise

S = TodoStatus
TAKEABLE = (S.PENDING_REVIEW, S.APPROVED, S.NEEDS_ATTENTION)
NOT_SETTLED = {
    EffectState.UNKNOWN: OUTCOME_UNKNOWN,
    EffectState.SENDING: lazy("{tool} is running. Wait for its outcome."),
}
DONE_BY_HAND = "A colleague did it by hand."


def take_todo(
    todo_id: UUID,
    *,
    version: int | None,
    content_hash: str | None,
    actor: Actor,
    member: Member | None,
    key: ApiKey | None = None,
) -> Todo:
    """Assign a todo to the caller, so that no worker runs it. If they already have it, it is returned unchanged.

    Raises Http404, TodoChanged unless the caller saw the current content, WrongState (also while an effect's outcome is
    open), Conflict if a second person has to approve it first, and PermissionDenied if the caller may not approve a
    pending todo.
    """
    todo, approver = get_for_update(todo_id), Approver(actor, member=member, key=key, by_hand=True)
    assignee_id = approver.id
    if todo.status == S.IN_PROGRESS and todo.taken_by == assignee_id is not None:
        return todo
    if todo.status not in TAKEABLE:
        raise WrongState(_refusal(todo))
    content = content_of(todo)
    require_seen(todo, content, version=version, content_hash=content_hash)
    _require_settled(todo)
    with transaction.atomic():
        if todo.status == S.PENDING_REVIEW:
            require_permission(todo, approver)
            require_in_time(todo)
            if not record_approval(todo, content, approver).is_complete:
                raise Conflict(gettext("Two people must approve this before anyone can take it."), code="not_approved")
        end_approvals(todo)
        transition(todo, S.IN_PROGRESS, what="taken", actor=actor)
        Todo.objects.filter(pk=todo.pk).update(taken_by=assignee_id, taker=actor.name[:120])
    todo.refresh_from_db()
    return todo


def complete_todo(todo_id: UUID, *, actor: Actor, note: str = "") -> Todo:
    """Complete a todo that was taken on; `note` says how. Raises Http404, WrongState."""
    return _finish(todo_id, S.COMPLETED, actor=actor, reason=note)


def fail_todo(todo_id: UUID, *, actor: Actor, reason: str) -> Todo:
    """Fail a todo that was taken on. Raises Http404, WrongState."""
    return _finish(todo_id, S.FAILED, actor=actor, reason=reason)


def _finish(todo_id: UUID, status: TodoStatus, *, actor: Actor, reason: str) -> Todo:
    todo = get_for_update(todo_id)
    if todo.status != S.IN_PROGRESS or not todo.taker:
        raise WrongState(f"{_refusal(todo)} Only todos that somebody has taken on can be ended by hand.")
    _require_settled(todo)
    if todo.effect is not None:
        _end_effect(todo, todo.effect, status, actor=actor, reason=reason)
    transition(todo, status, what=status.value, actor=actor, reason=reason, by_hand=True)
    return todo


def _end_effect(todo: Todo, effect: Effect, status: TodoStatus, *, actor: Actor, reason: str) -> None:
    """End the planned effect as done or failed by hand, and settle its promises."""
    is_done = status is S.COMPLETED
    is_ended = ledger.complete_manually(effect, by=actor.id, is_done=is_done, said=reason)
    if is_done:
        for promise in Promise.objects.filter(effect=effect):
            keep_promise(promise.pk, evidence=Evidence.PERSON, reason=DONE_BY_HAND)
    if is_ended:
        settle_promises(effect)
        effect_changed.send(todo, effect)


def _require_settled(todo: Todo) -> None:
    mine = Q(todo_calls__step__todo=todo) | Q(pk=todo.effect_id)
    effect = Effect.objects.filter(mine, state__in=[*NOT_SETTLED]).order_by("created_at").first()
    if effect is not None:
        raise WrongState(NOT_SETTLED[EffectState(effect.state)].format(tool=effect.tool))


def _refusal(todo: Todo) -> str:
    if todo.status == S.IN_PROGRESS:
        if todo.taker:
            return gettext("%(name)s has taken this todo on.") % {"name": todo.taker}
        return gettext("The agent is running this todo.")
    sentence = S(todo.status).sentence
    return f"{sentence} " + gettext("Review it again first.") if todo.status == S.FAILED else sentence
