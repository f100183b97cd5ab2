"""What a person does instead of the agent: taking a todo on, and saying what came of it (D15).

pending_review, approved, needs_attention → in_progress (taken) → completed, failed; as any other: cancelled, reviewed again

Whoever takes on a todo that waits for a yes says yes to it, as they saw it. Once it is taken no approval of it holds, so that
no worker does anything of it.
"""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Q

from jobs.errors import WrongState
from projects.common.api_error import Conflict
from projects.models import ApiKey, Member
from todos.approvals.approve import agree, require_in_time
from todos.approvals.permissions import Approver, require_permission
from todos.approvals.validity import NOT_KNOWN
from todos.content.lifecycle import Actor, move
from todos.content.snapshot import content_of
from todos.content.versions import end_approvals, locked, require_seen
from todos.hooks import effect_changed
from todos.models import Todo, TodoStatus
from tools.engine import ledger
from tools.engine.promises import close_promise, settle_promises
from tools.models import Effect, EffectState, Promise, PromiseState

S = TodoStatus
TAKEABLE = (S.PENDING_REVIEW, S.APPROVED, S.NEEDS_ATTENTION)
NOT_SETTLED = {
    EffectState.UNKNOWN: NOT_KNOWN,
    EffectState.SENDING: "{tool} is under way; its outcome has to be known first.",
}
BY_HAND = "A colleague did it by hand."


def take_todo(
    todo_id: UUID,
    *,
    version: int | None,
    content_hash: str | None,
    actor: Actor,
    member: Member | None,
    key: ApiKey | None = None,
) -> Todo:
    """Carry a todo out oneself: nothing of it is run from now on. Who has it already is answered with it.

    Raises Http404, Changed unless it is what was seen, WrongState also while an effect of it isn't settled, Conflict where
    another person has to approve it first, PermissionDenied for who may not approve what waits for a yes.
    """
    todo, approver = locked(todo_id), Approver(actor, member=member, key=key, does_it=True)
    who = approver.id
    if todo.status == S.IN_PROGRESS and todo.taken_by == who is not None:
        return todo
    if todo.status not in TAKEABLE:
        raise WrongState(_why_not(todo))
    content = content_of(todo)
    require_seen(todo, content, version=version, content_hash=content_hash)
    _demand_settled(todo)
    with transaction.atomic():
        if todo.status == S.PENDING_REVIEW:
            require_permission(todo, approver)
            require_in_time(todo)
            if not agree(todo, content, approver).is_complete:
                raise Conflict("Two people have to approve this before somebody takes it on.", code="not_approved")
        end_approvals(todo)
        move(todo, S.IN_PROGRESS, what="taken", actor=actor)
        Todo.objects.filter(pk=todo.pk).update(taken_by=who, taker=actor.name[:120])
    todo.refresh_from_db()
    return todo


def complete_todo(todo_id: UUID, *, actor: Actor, note: str = "") -> Todo:
    """What was taken on is done; `note` says how. Raises Http404, WrongState."""
    return _finish(todo_id, S.COMPLETED, actor=actor, reason=note)


def fail_todo(todo_id: UUID, *, actor: Actor, reason: str) -> Todo:
    """What was taken on couldn't be done. Raises Http404, WrongState."""
    return _finish(todo_id, S.FAILED, actor=actor, reason=reason)


def _finish(todo_id: UUID, status: TodoStatus, *, actor: Actor, reason: str) -> Todo:
    todo = locked(todo_id)
    if todo.status != S.IN_PROGRESS or not todo.taker:
        raise WrongState(f"{_why_not(todo)} Only what somebody has taken on is ended by hand.")
    _demand_settled(todo)
    if todo.effect is not None:
        _end_effect(todo, todo.effect, status, actor=actor, reason=reason)
    move(todo, status, what=status.value, actor=actor, reason=reason, by_hand=True)
    return todo


def _end_effect(todo: Todo, effect: Effect, status: TodoStatus, *, actor: Actor, reason: str) -> None:
    """What the agent had arranged for the todo happened by a person's hand, or didn't: its promises follow."""
    is_done = status is S.COMPLETED
    is_ended = ledger.complete_manually(effect, by=actor.id, is_done=is_done, said=reason)
    if is_done:
        for promise in Promise.objects.filter(effect=effect):
            close_promise(promise.pk, state=PromiseState.KEPT, reason=BY_HAND)
    if is_ended:
        settle_promises(effect)
        effect_changed.send(todo, effect)


def _demand_settled(todo: Todo) -> None:
    mine = Q(todo_calls__step__todo=todo) | Q(pk=todo.effect_id)
    effect = Effect.objects.filter(mine, state__in=[*NOT_SETTLED]).order_by("created_at").first()
    if effect is not None:
        raise WrongState(NOT_SETTLED[EffectState(effect.state)].format(tool=effect.tool))


def _why_not(todo: Todo) -> str:
    if todo.status == S.IN_PROGRESS:
        return f"{todo.taker} has taken this todo on." if todo.taker else "The agent carries this todo out."
    again = "; review it again first" if todo.status == S.FAILED else ""
    return f"This todo is {S(todo.status).label.lower()}{again}."
