"""Misbehaving models, failing tools, and tools or contacts that disappear before a run."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.models import PersonaField
from conversations.turns.services import give_fields
from jobs.models import Job, ModelCall, State
from llm.types import ToolCall
from projects.common.api_error import Conflict
from tenancy.threads import in_db
from tests.conversations.effects.target import Answers, Target
from tests.todos.executor.conftest import LETTER, NOTIFY, Runs
from todos.content.lifecycle import Actor
from todos.executor import run, steps
from todos.executor.calls import execute_calls
from todos.models import Approval, Todo
from todos.services import cancel_todo
from tools.engine.custom import service as custom_tools
from tools.engine.function_calling.parse_call import MAX_CALLS, call_id_of, storable
from tools.models import Effect

CALLER = "send_email_to_caller"


@pytest.mark.parametrize("text", ['{"subject": "Your sc', "", "[1]", '"text"', "null", "{" * 5000])
def test_truncated_arguments_are_an_error_and_the_model_retries(text: str, runs: Runs) -> None:
    runs.calls_tool(CALLER, text or "null")
    runs.calls_tool(CALLER)
    runs.says()
    todo = runs.execute(runs.todo(runs.kind(CALLER)))
    cut, whole = runs.calls(todo)
    assert (cut.arguments, cut.effect, cut.is_error) == (None, None, True)
    assert (whole.effect.state, todo.status) == ("done", "completed")


@pytest.mark.requirement("L19")
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"subject": "Only a subject"},
        {"subject": 7, "body": "x"},
        {**LETTER, "subject": "s" * 201},
        {**LETTER, "body": "\0"},
    ],
)
def test_invalid_arguments_are_an_error_that_names_the_problem(arguments: dict[str, Any], runs: Runs) -> None:
    runs.calls_tool(CALLER, arguments)
    runs.says()
    todo = runs.execute(runs.todo(runs.kind(CALLER)))
    assert runs.effects(todo) == []
    assert runs.result(todo).startswith("Error: ")


def test_repeated_calls_of_one_step_execute_once(runs: Runs) -> None:
    """Each of the fifty calls gets a result."""
    runs.model.script("execute", tool_calls=[{"name": CALLER, "arguments": LETTER}] * 50)
    runs.says()
    todo = runs.execute(runs.todo(runs.kind(CALLER)))
    states = [effect.state for effect in runs.effects(todo)]
    assert states == ["done", *["held"] * (MAX_CALLS - 1)]
    assert len(runs.calls(todo)) == 50
    assert all(call.result and call.finished_at for call in runs.calls(todo))


@pytest.mark.requirement("L19")
def test_a_tool_that_raises_has_an_unknown_outcome(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The model is told, and staff is asked."""

    async def broken(*_: Any) -> Any:
        raise RuntimeError("the tool has a bug")

    monkeypatch.setattr("tools.builtin.send_email_to_caller.send_email", broken)
    runs.calls_tool(CALLER)
    runs.says()
    todo = runs.execute(runs.todo(runs.kind(CALLER)))
    assert "isn't known" in runs.result(todo)
    assert "RuntimeError" not in runs.result(todo)
    assert (todo.status, len(runs.steps(todo))) == ("needs_attention", 2)
    assert any(
        record.levelname == "ERROR" and "the tool has a bug" in str(record.exc_info) for record in caplog.records
    )


@pytest.mark.requirement("L19")
def test_a_refused_call_is_logged_as_an_error(runs: Runs, caplog: pytest.LogCaptureFixture) -> None:
    runs.calls_tool("fly", {})
    runs.says()
    runs.execute(runs.todo(runs.kind(CALLER)))
    assert ["A call of fly" in line and "was refused" in line for line in errors(caplog)] == [True]


@pytest.mark.requirement("L19")
def test_a_failed_effect_is_logged_as_an_error(runs: Runs, target: Target, caplog: pytest.LogCaptureFixture) -> None:
    target.answers(Answers(status=400, body="no such crew"))
    runs.own_tool(target.url)
    runs.calls_tool(NOTIFY, {"what": "Hello"})
    runs.says()
    runs.execute(runs.todo(runs.kind(NOTIFY)))
    assert [NOTIFY in line and "failed" in line for line in errors(caplog)] == [True]


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]


def test_removing_a_tool_before_the_run_returns_the_todo_to_review(runs: Runs, target: Target) -> None:
    runs.own_tool(target.url)
    todo = runs.approved(runs.todo(runs.kind(NOTIFY)))
    with runs.tenant.tx():
        custom_tools.remove(runs.tenant.project, NOTIFY)
    todo = runs.run(todo)
    assert (todo.status, target.log, runs.model.requests("execute")) == ("pending_review", [], [])
    assert NOTIFY in todo.reason


def test_removing_a_tool_during_the_run_cancels_its_planned_calls(runs: Runs, target: Target) -> None:
    runs.own_tool(target.url)

    def remove(_: Any) -> None:
        with runs.tenant.tx():
            custom_tools.remove(runs.tenant.project, NOTIFY)

    target.on_request = remove
    runs.model.script("execute", tool_calls=[{"name": NOTIFY, "arguments": {"what": word}} for word in "ab"])
    todo = runs.execute(runs.todo(runs.kind(NOTIFY)))
    assert [effect.state for effect in runs.effects(todo)] == ["done", "cancelled"]
    assert (todo.status, len(target.log)) == ("pending_review", 1)


def test_a_contact_without_its_approved_address_returns_the_todo_to_review(runs: Runs) -> None:
    todo = runs.approved(runs.frozen())
    with runs.tenant.tx():
        give_fields(runs.conversation.persona, {"email": "somebody.else@example.com"})
    todo = runs.run(todo)
    assert (todo.status, runs.effects(todo)) == ("pending_review", [])
    assert "contact" in todo.reason


@pytest.mark.requirement("L10")
def test_a_lost_address_is_named_and_blocks_approval(runs: Runs) -> None:
    todo = runs.approved(runs.frozen())
    with runs.tenant.tx():
        PersonaField.objects.filter(persona=runs.conversation.persona, key="email").delete()
    todo = runs.run(todo)
    assert (todo.status, runs.effects(todo)) == ("pending_review", [])
    assert todo.reason == "Changed after approval: contact. The customer no longer has an e-mail address."
    with pytest.raises(Conflict, match="The customer has no e-mail address"):
        runs.approved(todo)


@pytest.mark.requirement("L10")
def test_the_contact_is_read_again_before_each_effect(runs: Runs, target: Target) -> None:
    runs.own_tool(target.url)

    def forget(_: Any) -> None:
        with runs.tenant.tx():
            PersonaField.objects.filter(persona=runs.conversation.persona, key="email").delete()

    target.on_request = forget
    runs.calls_tool(NOTIFY, {"what": "Hello"})
    runs.calls_tool(CALLER)
    todo = runs.execute(runs.todo(runs.kind(NOTIFY, CALLER)))
    assert [effect.state for effect in runs.effects(todo)] == ["done", "cancelled"]
    assert (todo.status, "no longer has an e-mail address" in todo.reason) == ("pending_review", True)


def test_a_tool_changed_between_two_steps_is_not_executed(runs: Runs, target: Target) -> None:
    """A step is decided with the tools of the last check and executed after a new one."""
    runs.own_tool(target.url)
    target.on_request = lambda _: runs.own_tool(f"{target.url}/elsewhere")
    runs.calls_tool(NOTIFY, {"what": "Hello"})
    runs.calls_tool(NOTIFY, {"what": "Hello again"})
    todo = runs.execute(runs.todo(runs.kind(NOTIFY)))
    assert [effect.state for effect in runs.effects(todo)] == ["done", "cancelled"]
    assert (todo.status, len(target.log)) == ("pending_review", 1)


def run_out() -> None:
    Approval.objects.update(expires_at="2020-01-01T00:00:00Z")


def test_an_expired_approval_runs_nothing(runs: Runs) -> None:
    """The sweep has not expired the todo yet."""
    todo = runs.approved(runs.frozen())
    runs.do(run_out)
    todo = runs.run(todo)
    assert (todo.status, todo.reason, runs.effects(todo)) == ("expired", "It was not started in time.", [])


def test_an_approval_that_expires_during_the_run_returns_the_rest_to_review(runs: Runs, target: Target) -> None:
    runs.own_tool(target.url)
    target.on_request = lambda _: runs.do(run_out)
    runs.model.script("execute", tool_calls=[{"name": NOTIFY, "arguments": {"what": word}} for word in "ab"])
    todo = runs.execute(runs.todo(runs.kind(NOTIFY)))
    assert [effect.state for effect in runs.effects(todo)] == ["done", "cancelled"]
    assert (todo.status, todo.reason) == ("pending_review", "The approval expired before it was used.")


def test_a_cancelled_todo_starts_no_further_effect(runs: Runs, target: Target) -> None:
    runs.own_tool(target.url)
    todo = runs.approved(runs.todo(runs.kind(NOTIFY)))
    target.on_request = lambda _: runs.do(cancel, todo)
    runs.model.script("execute", tool_calls=[{"name": NOTIFY, "arguments": {"what": word}} for word in "ab"])
    todo = runs.run(todo)
    assert [effect.state for effect in runs.effects(todo)] == ["done", "cancelled"]
    assert (todo.status, len(runs.steps(todo))) == ("cancelled", 1)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [(NOTIFY, {"what": "a"}), ("send_email", {"to": "eve@example.com", "subject": "Hello", "body": "Hello"})],
    ids=["a call", "a letter to whom nobody approved"],
)
def test_a_todo_cancelled_during_a_model_call_takes_no_further_step(
    tool: str, arguments: dict[str, Any], runs: Runs, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cost of the model call is stored."""
    runs.own_tool(target.url)
    runs.calls_tool(tool, arguments)
    todo = runs.approved(runs.todo(runs.kind(NOTIFY, "send_email", recipients=["ada@example.com"])))
    store = steps._store_step

    async def later(*given: Any) -> Any:
        await in_db(runs.do, cancel, todo)
        return await store(*given)

    monkeypatch.setattr(steps, "_store_step", later)
    assert runs.run(todo).status == "cancelled"
    assert (runs.steps(todo), target.log) == ([], [])
    with runs.tenant.tx():
        assert (ModelCall.objects.count(), Job.objects.get(lane="todo").state) == (1, State.SKIPPED)


def test_a_todo_cancelled_before_its_call_starts_sends_nothing(
    runs: Runs, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ends without a failed job."""
    runs.own_tool(target.url)
    todo = runs.approved(runs.frozen(NOTIFY, {"body": {"what": "a"}}))

    async def later(*given: Any, **named: Any) -> Any:
        await in_db(runs.do, cancel, todo)
        return await execute_calls(*given, **named)

    monkeypatch.setattr(run, "execute_calls", later)
    assert (runs.run(todo).status, target.log) == ("cancelled", [])
    with runs.tenant.tx():
        job = Job.objects.get(lane="todo")
        assert (Effect.objects.get().state, job.state, job.attempts) == ("cancelled", State.SKIPPED, 1)


def cancel(todo: Todo) -> None:
    cancel_todo(todo.pk, actor=Actor("Nello"))


@pytest.mark.requirement("L14")
def test_a_refusal_of_the_model_fails_the_todo(runs: Runs) -> None:
    """The model call and its cost are stored."""
    runs.model.script("execute", times=0, fault="content_filter")
    todo = runs.execute(runs.todo(runs.kind(CALLER)))
    with runs.tenant.tx():
        assert ModelCall.objects.filter(subject_id=todo.pk).exists()
    assert (todo.status, runs.steps(todo)) == ("failed", [])
    assert "filter" in todo.reason


def test_a_truncated_response_is_no_step(runs: Runs) -> None:
    runs.model.script("execute", times=0, fault="length", text="I will now")
    todo = runs.execute(runs.todo(runs.kind(CALLER)))
    assert (todo.status, runs.steps(todo)) == ("failed", [])


def test_calls_with_the_same_id_get_distinct_ids() -> None:
    """Results refer to calls by id, and providers reject duplicates."""
    asked = ToolCall("call_1", CALLER, "{}")
    assert [call_id_of(asked, index=at, taken=taken) for at, taken in enumerate([[], ["call_1"]])] == [
        "call_1",
        "call_1_1",
    ]


def test_lone_surrogates_and_null_characters_can_be_stored() -> None:
    assert storable("a\0b\ud800c") == "ab?c"
