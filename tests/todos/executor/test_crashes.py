"""Workers killed with SIGKILL at each failpoint of a run, with another worker taking over."""

from __future__ import annotations

from collections import Counter

import pytest

from conversations.models import Event
from jobs.models import Job, State
from tests.conversations.effects.target import Answers, Target
from tests.crashes.invariants import settle
from tests.processes import ForkServer, until
from tests.todos.executor.conftest import Runs
from todos.models import Todo, TodoStatus, TodoType
from tools.models import Effect

POINTS = [
    "todo.claimed",
    "todo.model_done_pre_commit",
    "todo.step_committed",
    "todo.between_effects",
    "todo.last_step_pre_final",
    "effect.sending_pre_bytes",
    "effect.bytes_out",
    "effect.response_pre_commit",
]
ONCE, AGAIN = "tell_once", "tell_again"


def prepare(runs: Runs, target: Target) -> TodoType:
    """A todo type whose model calls two tools in one step and stops after their results."""
    target.answers(Answers(body='{"crew": "on its way"}'))
    runs.own_tool(f"{target.url}/once", name=ONCE)
    runs.own_tool(f"{target.url}/again", name=AGAIN, delivery="idempotent")
    hello = {"what": "Hello"}
    runs.model.script("execute", times=0, match="on its way", text="That is done.")
    runs.model.script("execute", times=0, tool_calls=[{"name": name, "arguments": hello} for name in (ONCE, AGAIN)])
    return runs.kind(ONCE, AGAIN)


def violations(runs: Runs, todos: list[Todo], target: Target) -> list[str]:
    """Descriptions of everything wrong with the finished runs."""
    reached = Counter(target.keys())
    effects = [effect for todo in todos for effect in runs.effects(todo)]
    found = [
        f"{key} reached the target and is no effect" for key in reached.keys() - {one.effect_key for one in effects}
    ]
    for effect in effects:
        found += [f"{effect.tool} was sent {reached[effect.effect_key]} times"] * _is_too_often(effect, reached)
        found += [f"{effect.tool} is {effect.state}"] * (effect.state in ("planned", "sending"))
        told = _told(runs, effect)
        found += [f"{effect.tool} is {effect.state}, and its conversation heard {told}"] * (told != [effect.state])
    for todo in todos:
        found += [f"{todo} has {len(runs.steps(todo))} steps"] * (len(runs.steps(todo)) != 2)
        found += [f"{call} has no result" for call in runs.calls(todo) if not call.result]
        states = {effect.state for effect in runs.effects(todo)}
        is_right = runs.now(todo).status == ("needs_attention" if states & {"unknown", "held"} else "completed")
        found += [f"{runs.now(todo)} with {states}"] * (not is_right)
    return found


def _is_too_often(effect: Effect, reached: Counter[str]) -> bool:
    times = reached[effect.effect_key]
    return (times > 1 and effect.delivery == "once") or (times == 0 and effect.state == "done")


def _told(runs: Runs, effect: Effect) -> list[str]:
    """The ends of an effect, as often as its conversation logged them."""
    with runs.tenant.tx():
        rows = Event.objects.filter(conversation=runs.conversation, type="effect", payload__id=str(effect.pk))
        return [event.idn.removeprefix("effect_") for event in rows.order_by("seq")]


def kill(processes: ForkServer, label: str) -> None:
    processes.worker(queues="work", crash_at=f"{label}:1").wait()


@pytest.mark.short_leases
@pytest.mark.parametrize("label", POINTS)
def test_two_kills_neither_lose_nor_repeat_an_effect(
    label: str, runs: Runs, target: Target, processes: ForkServer
) -> None:
    """The first kill hits one todo, the second another or the same one later."""
    kind = prepare(runs, target)
    todos = [runs.approved(runs.todo(kind)) for _ in range(2)]
    for _ in todos:
        kill(processes, label)
    processes.worker(queues="work")
    settle(runs.tenant)
    assert violations(runs, todos, target) == []


@pytest.mark.slow
@pytest.mark.short_leases
@pytest.mark.parametrize("label", POINTS)
def test_twenty_kills_neither_lose_nor_repeat_an_effect(
    label: str, runs: Runs, target: Target, processes: ForkServer
) -> None:
    """Each kill hits another todo."""
    kind, todos = prepare(runs, target), list[Todo]()
    for _ in range(20):
        todos.append(runs.approved(runs.todo(kind)))
        kill(processes, label)
        survivor = processes.worker(queues="work")
        settle(runs.tenant)
        survivor.kill()
    assert violations(runs, todos, target) == []


@pytest.mark.requirement("L13")
def test_an_approved_todo_is_run_by_one_of_two_workers(runs: Runs, processes: ForkServer) -> None:
    processes.worker(queues="work")
    processes.worker(queues="work")
    todo = runs.approved(runs.frozen())
    until(lambda: runs.now(todo).status == TodoStatus.COMPLETED, what="the end of the todo")
    with runs.tenant.tx():
        assert [job.state for job in Job.objects.filter(lane="todo")] == [State.DONE]
    assert len(runs.effects(todo)) == 1
