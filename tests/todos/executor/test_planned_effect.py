"""Todos that run an effect planned by the agent, once it is approved."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from conversations.tool_runs.effects.resolution import resolve
from conversations.turns.services import give_fields
from jobs.errors import WrongState
from jobs.lanes import ClaimedJob
from jobs.models import Job, State
from jobs.services import fail_job, run_again
from projects.common.api_error import Conflict
from tenancy.threads import in_db
from tests.conversations.effects.target import Answers, Target
from tests.todos.executor.conftest import LETTER, NOTIFY, Runs
from todos.content.lifecycle import Actor
from todos.content.snapshot import compiled_tools
from todos.executor import run
from todos.executor.calls import execute_calls
from todos.models import Todo, TodoSource
from todos.services import cancel_todo, return_to_review, review_again
from tools.builtin.send_email_tool import TOOL
from tools.engine.execution.plan import effect_key
from tools.models import Effect

OTHER = {**LETTER, "body": "Nobody has found your scarf."}


@pytest.fixture
def arranged(runs: Runs) -> Effect:
    with runs.tenant.tx():
        return Effect.objects.create(
            project_id=runs.tenant.project.pk,
            conversation_id=runs.conversation.pk,
            effect_key=effect_key(origin=runs.conversation.pk, tool=TOOL.name, step=0, index=0),
            tool=TOOL.name,
            kind=TOOL.kind,
            delivery=TOOL.delivery,
            definition=TOOL.definition.model_dump(mode="json", by_alias=True),
            arguments=LETTER,
            arranged_at=timezone.now(),
            quote="I'll e-mail you.",
        )


@pytest.fixture
def todo(runs: Runs, arranged: Effect) -> Todo:
    return runs.todo(source=TodoSource.TOOL, effect=arranged)


def test_the_planned_effect_itself_runs(runs: Runs, todo: Todo, arranged: Effect) -> None:
    """With its own key and arguments; no other effect is created."""
    todo = runs.execute(todo)
    with runs.tenant.tx():
        [effect] = Effect.objects.all()
    assert (todo.status, effect.pk, effect.state) == ("completed", arranged.pk, "done")
    assert (effect.result["to"], effect.result["subject"]) == ("ada@example.com", LETTER["subject"])


def test_the_planned_effect_stays_planned_when_the_todo_returns_to_review(
    runs: Runs, todo: Todo, arranged: Effect
) -> None:
    approved = runs.approved(todo)
    runs.do(return_to_review, approved, reason="Something changed.", actor=Actor("Nello"))
    runs.run(todo)
    assert runs.execute(runs.now(todo)).status == "completed"


def test_the_planned_effect_stays_planned_when_its_approval_ends_at_the_start(
    runs: Runs, todo: Todo, arranged: Effect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The customer's address changes in between."""

    async def later(*arguments: Any, **details: Any) -> Any:
        monkeypatch.undo()
        await in_db(runs.do, give_fields, runs.conversation.persona, {"email": "ada@other.example"})
        return await execute_calls(*arguments, **details)

    monkeypatch.setattr(run, "execute_calls", later)
    todo = runs.execute(todo)
    with runs.tenant.tx():
        assert (todo.status, Effect.objects.get().state) == ("pending_review", "planned")
    assert runs.execute(todo).status == "completed"


def test_a_failed_planned_effect_is_retried_with_the_next_approval(runs: Runs, todo: Todo, arranged: Effect) -> None:
    """It keeps its key."""
    with runs.tenant.tx():
        refused = {
            "state": "failed",
            "error": "The mail server refused it.",
            "attempts": 3,
            "finished_at": timezone.now(),
        }
        Effect.objects.filter(pk=arranged.pk).update(**refused)
    assert runs.execute(todo).status == "failed"
    runs.do(review_again, todo.pk, actor=Actor("Nello"))
    assert runs.execute(runs.now(todo)).status == "completed"
    with runs.tenant.tx():
        [effect] = Effect.objects.all()
    assert (effect.pk, effect.state, effect.attempts) == (arranged.pk, "done", 4)


def test_an_edited_effect_is_retried_under_a_new_key(runs: Runs, target: Target) -> None:
    """The endpoint would answer the old key as before."""
    target.answers(Answers(status=400), Answers())
    runs.own_tool(target.url)
    effect = planned(runs, NOTIFY, {"body": {"what": "Hello"}})
    todo = runs.execute(runs.todo(source=TodoSource.TOOL, effect=effect))
    runs.do(review_again, todo.pk, actor=Actor("Nello"))
    todo = runs.edit(todo, arguments={"body": {"what": "Goodbye"}})
    assert runs.execute(todo).status == "completed"
    assert [heard.document for heard in target.log] == [{"what": "Hello"}, {"what": "Goodbye"}]
    first, second = target.keys()
    assert first == effect.effect_key != second


def planned(runs: Runs, name: str, arguments: dict[str, Any]) -> Effect:
    """An effect planned with a custom tool."""
    with runs.tenant.tx():
        tool = compiled_tools(runs.tenant.project)[name]
        return Effect.objects.create(
            project_id=runs.tenant.project.pk,
            conversation_id=runs.conversation.pk,
            effect_key=effect_key(origin=runs.conversation.pk, tool=name, step=0, index=0),
            tool=name,
            tool_origin=tool.origin,
            kind=tool.kind,
            delivery=tool.delivery,
            definition=tool.definition.model_dump(mode="json", by_alias=True),
            arguments=arguments,
            arranged_at=timezone.now(),
        )


@pytest.mark.parametrize(("ticked", "status"), [(False, "needs_attention"), (True, "completed")])
def test_a_held_planned_effect_runs_if_staff_selects_it(
    ticked: bool, status: str, runs: Runs, todo: Todo, arranged: Effect
) -> None:
    runs.execute(runs.frozen())
    assert runs.execute(todo).status == "needs_attention"
    runs.do(review_again, todo.pk, actor=Actor("Nello"), repeats=[arranged.pk] if ticked else [])
    assert runs.execute(runs.now(todo)).status == status


@pytest.mark.parametrize(
    ("was", "becomes", "state"),
    [(OTHER, LETTER, "held"), (LETTER, OTHER, "done")],
    ids=["into what was done", "out of what was done"],
)
def test_an_edited_effect_is_compared_by_its_new_arguments(
    was: dict[str, str], becomes: dict[str, str], state: str, runs: Runs, todo: Todo, arranged: Effect
) -> None:
    done = runs.effects(runs.execute(runs.frozen(arguments=LETTER)))[0]
    with runs.tenant.tx():
        Effect.objects.filter(pk=arranged.pk).update(
            arguments=was, repeat_key=done.repeat_key if was == LETTER else "another", recipient="old@example.com"
        )
        Todo.objects.filter(pk=todo.pk).update(arguments=was)
    runs.execute(runs.edit(todo, arguments=becomes))
    with runs.tenant.tx():
        effect = Effect.objects.get(pk=arranged.pk)
    assert (effect.state, effect.recipient) == (state, "ada@example.com")


def test_an_effect_that_staff_says_did_not_happen_runs_with_the_next_approval(
    runs: Runs, todo: Todo, arranged: Effect
) -> None:
    """The todo can't be approved before staff answers."""
    approved = runs.approved(todo)
    with runs.tenant.tx():
        Effect.objects.filter(pk=arranged.pk).update(state="unknown", attempts=1, started_at=timezone.now())
    assert runs.run(approved).status == "needs_attention"
    runs.do(review_again, todo.pk, actor=Actor("Nello"))
    with pytest.raises(Conflict, match="Confirm the outcome first"):
        runs.approved(runs.now(todo))
    runs.do(resolve, runs.tenant.project, arranged.pk, happened=False, by=runs.boss.pk)
    assert runs.now(todo).status == "pending_review"
    assert runs.execute(runs.now(todo)).status == "completed"


def test_staffs_answer_belongs_to_the_newest_run(runs: Runs, target: Target) -> None:
    target.answers(Answers(status=400), Answers(drops=True))
    runs.own_tool(target.url)
    effect = planned(runs, NOTIFY, {"body": {"what": "Hello"}})
    todo = runs.execute(runs.todo(source=TodoSource.TOOL, effect=effect))
    runs.do(review_again, todo.pk, actor=Actor("Nello"))
    assert (todo.status, runs.execute(runs.now(todo)).status) == ("failed", "needs_attention")
    runs.do(resolve, runs.tenant.project, effect.pk, happened=True, by=runs.boss.pk)
    assert runs.now(todo).status == "completed"


def test_a_permanently_failed_job_fails_the_todo_with_its_reason(runs: Runs) -> None:
    todo = runs.approved(runs.frozen())
    fail(runs, "The worker that ran this died 8 times in a row.")
    todo = runs.now(todo)
    assert (todo.status, todo.reason) == ("failed", "The worker that ran this died 8 times in a row.")


@pytest.mark.parametrize(
    ("answers", "status", "state"),
    [(Answers(drops=True), "needs_attention", "unknown"), (Answers(status=429), "failed", "failed")],
    ids=["it may have happened", "it did not"],
)
def test_a_job_failing_between_two_attempts_leaves_the_outcome_unknown(
    answers: Answers, status: str, state: str, runs: Runs, target: Target
) -> None:
    target.answers(answers)
    runs.own_tool(target.url, delivery="idempotent")
    todo = runs.execute(runs.frozen(NOTIFY, {"body": {"what": "Hello"}}), hurry=False)
    fail(runs, "The worker that ran this died 8 times in a row.")
    [call] = runs.calls(todo)
    assert call.effect is not None
    assert (runs.now(todo).status, call.effect.state, call.finished_at is None) == (status, state, False)


def test_a_failed_run_needs_a_new_approval(runs: Runs) -> None:
    runs.approved(runs.frozen())
    job = fail(runs, "It broke.")
    with pytest.raises(WrongState, match="Review the todo again"), runs.tenant.tx():
        run_again(runs.tenant.project, job.id)


def test_a_todo_cancelled_before_its_run_does_nothing(runs: Runs) -> None:
    todo = runs.approved(runs.frozen())
    runs.do(cancel_todo, todo.pk, actor=Actor("Nello"))
    runs.run(todo)
    with runs.tenant.tx():
        assert [job.state for job in Job.objects.filter(lane="todo")] == [State.SKIPPED]
    assert runs.effects(todo) == []


def fail(runs: Runs, reason: str) -> ClaimedJob:
    """Let the todo's job use up its attempts."""
    with runs.tenant.tx():
        row = Job.objects.get(lane="todo", state=State.QUEUED)
        Job.objects.filter(pk=row.pk).update(state=State.RUNNING, token=1)
    values: dict[str, Any] = {name: getattr(row, name) for name in ("id", "lane", "subject_id", "ordinal", "key")}
    job = ClaimedJob(organization_id=runs.tenant.organization.pk, token=1, attempt=8, max_attempts=8, **values)
    fail_job(job, reason=reason)
    return job
