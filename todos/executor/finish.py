"""End of a run. `completed` requires that every effect is done and the model has stopped; its text is no evidence."""

from __future__ import annotations

from collections.abc import Sequence

from todos.content.lifecycle import AGENT, Actor, transition
from todos.content.versions import end_approvals
from todos.executor.run_context import RunContext, load_run
from todos.executor.todo_run import TodoRun
from todos.models import Todo, TodoStatus
from todos.models.step import MOST_STEPS
from tools.engine.function_calling.results import why_refused
from tools.models import Effect, EffectState

STEP_LIMIT_REACHED = f"Stopped after {MOST_STEPS} steps, the limit for a todo."
OUTCOME_UNKNOWN = "We don't know whether {tools} went through. Check, and confirm the outcome."
HELD = "{tools} was held back because it was already done."
NOT_DONE = "{tool} was not done: {error}"
NOTHING_DONE = "The agent used no tool, so nothing was done. It said: {said}"
NOT_RUN = "Nothing was done. {tool} was called, but not run: {why}"
NOT_SENT = (
    "Not sent: {tools} only reached the outbox, because no service is connected. Connect one under Integrations and "
    "review the todo again, or take it on and send it yourself."
)


def finish(run: RunContext, *, actor: Actor = AGENT) -> None:
    """Move the locked todo, whose run has nothing left to do, to its final status."""
    status, reason = final_status(run)
    if status in (TodoStatus.COMPLETED, TodoStatus.FAILED):
        end_approvals(run.todo)
    transition(run.todo, status, what=status.value, actor=actor, reason=reason)


def fail_run(todo: Todo, reason: str) -> None:
    """End the open calls and the todo after the run's job has failed permanently."""
    if todo.status == TodoStatus.APPROVED:
        transition(todo, TodoStatus.IN_PROGRESS, what="started", actor=AGENT)
    if todo.status != TodoStatus.IN_PROGRESS or todo.taker:
        return
    run = load_run(todo)
    for call in run.open_calls if run else []:
        TodoRun(todo, call).fail(reason)
    remaining = load_run(todo)
    is_unknown = remaining is not None and bool(_in_state(_effects(remaining), EffectState.UNKNOWN))
    status = TodoStatus.NEEDS_ATTENTION if is_unknown else TodoStatus.FAILED
    if status == TodoStatus.FAILED:
        end_approvals(todo)
    transition(todo, status, what=status.value, actor=AGENT, reason=reason)


def final_status(run: RunContext) -> tuple[TodoStatus, str]:
    """The final status of a run with nothing left to do, and the reason."""
    effects = _effects(run)
    reasons = [] if run.has_stopped else [STEP_LIMIT_REACHED]
    if unknown := _in_state(effects, EffectState.UNKNOWN):
        return TodoStatus.NEEDS_ATTENTION, " ".join([*reasons, OUTCOME_UNKNOWN.format(tools=_named(unknown))])
    failed = _in_state(effects, EffectState.FAILED, EffectState.CANCELLED)
    reasons += [NOT_DONE.format(tool=one.tool, error=one.error or one.told) for one in failed]
    if reasons:
        return TodoStatus.FAILED, " ".join(reasons)
    if held := _in_state(effects, EffectState.HELD):
        return TodoStatus.NEEDS_ATTENTION, HELD.format(tools=_named(held))
    if not effects:
        return _without_effects(run)
    if unsent := [effect for effect in effects if effect.is_in_outbox]:
        return TodoStatus.NEEDS_ATTENTION, NOT_SENT.format(tools=_named(unsent))
    return TodoStatus.COMPLETED, ""


def _without_effects(run: RunContext) -> tuple[TodoStatus, str]:
    if run.is_frozen:
        return TodoStatus.FAILED, NOT_RUN.format(tool=run.calls[0].name, why=why_refused(run.calls[0].result))
    if run.calls:
        return TodoStatus.NEEDS_ATTENTION, NOT_RUN.format(
            tool=run.calls[-1].name, why=why_refused(run.calls[-1].result)
        )
    return TodoStatus.NEEDS_ATTENTION, NOTHING_DONE.format(said=run.steps[-1].step.content or "nothing.")


def _effects(run: RunContext) -> list[Effect]:
    """The current effects of the run, in the order of its calls."""
    effect_ids = dict.fromkeys(call.effect_id for call in run.calls if call.effect_id is not None)
    found = Effect.objects.in_bulk(effect_ids) if effect_ids else {}
    return [found[effect_id] for effect_id in effect_ids]


def _in_state(effects: Sequence[Effect], *states: EffectState) -> list[Effect]:
    return [effect for effect in effects if effect.state in states]


def _named(effects: Sequence[Effect]) -> str:
    return ", ".join(dict.fromkeys(effect.tool for effect in effects))
