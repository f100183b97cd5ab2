"""What late results and staff decide about an effect of a todo, and how its run goes on (W6, E2, E6, T9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast
from uuid import UUID

from jobs.errors import WrongState
from todos.content.lifecycle import Actor, move
from todos.executor import settle
from todos.executor.finish import finish, verdict_on
from todos.executor.job_keys import queue_answered
from todos.executor.results import reopen_call
from todos.executor.run_context import lock_todo, read_work
from todos.hooks import todo_changed
from todos.models import Todo, TodoCall, TodoStatus
from tools.engine import effect_decisions, ledger
from tools.engine.execution.outcome import Outcome
from tools.models import Effect, EffectState

COLLEAGUE = "a colleague"
CHECKED = "A colleague has checked it: it was not done."
GOES_ON = (TodoStatus.IN_PROGRESS, TodoStatus.NEEDS_ATTENTION)
AWAITS = (TodoStatus.PENDING_REVIEW, TodoStatus.APPROVED)
CLOSED = (TodoStatus.COMPLETED, TodoStatus.REJECTED, TodoStatus.EXPIRED, TodoStatus.CANCELLED)
NO_MORE = "Its todo is {state}, and nothing more of it is done: make another todo for this."
RUN_IS_OVER = "The run of its todo that it belongs to is over: review that again."


def is_of_todo(effect: Effect) -> bool:
    """Whether a todo's run carries the effect out."""
    return TodoCall.objects.filter(effect=effect).exists()


def why_not_again(effects: Iterable[UUID]) -> Mapping[UUID, str]:
    """Of these effects those of a todo whose run doesn't go on, so that none is done once more by itself; each with the reason."""
    asked = list(effects)
    over: dict[UUID, str] = {}
    for todo in Todo.objects.filter(effect__in=asked).exclude(status__in=GOES_ON):
        over[cast(UUID, todo.effect_id)] = _over(todo)
    calls = TodoCall.objects.filter(effect__in=asked).select_related("step__approval", "step__todo")
    newest = {cast(UUID, call.effect_id): call for call in calls.order_by("step__approval__version")}
    for effect_id, call in newest.items():
        if not _is_running(call.step.todo, call):
            over[effect_id] = _over(call.step.todo)
    return over


def effect_ended(effect: Effect, outcome: Outcome) -> None:
    """A tool that answers later has answered: its call ends, and the run goes on. A second answer changes nothing."""
    todo, call = _locked(effect)
    if effect_is_over(call):
        return
    settle.settle(todo, call.step.approval, call, outcome)
    _go_on(todo, call, answer="called_back", by=None)


def resolve(effect: Effect, *, happened: bool, by: UUID | None) -> Effect:
    """Staff says whether an unknown effect happened. If not, it is done once more, unless its todo is over, and where that is
    reviewed again with the next yes. Raises WrongState.
    """
    todo, call = _locked(effect)
    standing = settle.effect_of(call)
    if happened:
        effect_decisions.confirm(standing, by=by)
        settle.close(todo, call)
        _go_on(todo, call, answer="resolved", by=by)
    elif _is_running(todo, call):
        effect_decisions.send_again(standing, by=by)
        _reopen(todo, call, answer="resolved", by=by)
    elif standing.pk == todo.effect_id and todo.status in AWAITS:
        # With the yes that it waits for it is done, or given up with a no.
        effect_decisions.send_again(standing, by=by)
        settle.close(todo, call)
    else:
        _demand_unknown(standing)
        settle.end(todo, call, Outcome.failed(CHECKED), state=EffectState.FAILED)
    return standing


def release(effect: Effect, *, by: UUID | None) -> Effect:
    """Staff lets a held repeat go out after all. Raises WrongState, also when its todo is over."""
    todo, call = _locked(effect)
    standing = settle.effect_of(call)
    if not _is_running(todo, call):
        raise WrongState(_over(todo))
    effect_decisions.release(standing, by=by)
    _reopen(todo, call, answer="released", by=by)
    return standing


def effect_is_over(call: TodoCall) -> bool:
    """Whether nothing that comes now changes how the call's effect ended."""
    return settle.effect_of(call).state not in (*ledger.OPEN, EffectState.UNKNOWN)


def _locked(effect: Effect) -> tuple[Todo, TodoCall]:
    """The todo, locked, and the newest call of it that carries the effect."""
    calls = TodoCall.objects.select_related("effect", "step__approval")
    found = calls.filter(effect=effect).order_by("-step__approval__version")
    todo = lock_todo(found[0].step.todo_id)
    return todo, found.all()[0]


def _is_running(todo: Todo, call: TodoCall) -> bool:
    """Whether the run that the call is part of may go on."""
    approval = call.step.approval
    return todo.status in GOES_ON and todo.version == approval.version and approval.ended_at is None


def _over(todo: Todo) -> str:
    status = TodoStatus(todo.status)
    return NO_MORE.format(state=status.label.lower()) if status in CLOSED else RUN_IS_OVER


def _reopen(todo: Todo, call: TodoCall, *, answer: str, by: UUID | None) -> None:
    reopen_call(call)
    settle.announce(todo, settle.effect_of(call))
    _go_on(todo, call, answer=answer, by=by)


def _go_on(todo: Todo, call: TodoCall, *, answer: str, by: UUID | None) -> None:
    """Let a run that isn't over look at what is left. One that needed attention may have nothing left, and ends."""
    if not _is_running(todo, call):
        return
    work = read_work(todo)
    if work is None:
        return
    if todo.status == TodoStatus.IN_PROGRESS or work.open_calls:
        if todo.status == TodoStatus.NEEDS_ATTENTION:
            move(todo, TodoStatus.IN_PROGRESS, what="resumed", actor=_actor(by))
        queue_answered(todo, work.approval, settle.effect_of(call), answer=answer)
        return
    _conclude(todo, by=by)


def _conclude(todo: Todo, *, by: UUID | None) -> None:
    """Nothing is left of a run that needed attention: it is completed, or says why it still needs it."""
    work = read_work(todo)
    if work is None:
        return
    status, reason = verdict_on(work)
    if status == TodoStatus.COMPLETED:
        finish(work, actor=_actor(by))
        return
    Todo.objects.filter(pk=todo.pk).update(reason=reason[:500])
    todo.refresh_from_db()
    todo_changed.send(todo, "needs_attention")


def _actor(by: UUID | None) -> Actor:
    return Actor(COLLEAGUE, by)


def _demand_unknown(effect: Effect) -> None:
    if effect.state != EffectState.UNKNOWN:
        raise WrongState(f"This is for an effect that is unknown; this one is {EffectState(effect.state).value}.")
