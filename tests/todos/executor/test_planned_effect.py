"""An effect that the agent planned and a colleague has to approve: the todo runs that effect, and no other."""

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
from todos.executor.calls import carry_out_calls
from todos.models import Todo, TodoSource
from todos.services import cancel_todo, return_to_review, review_again
from tools.builtin.send_email_tool import TOOL
from tools.engine.ledger import effect_key
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


def test_the_arranged_effect_itself_runs(runs: Runs, todo: Todo, arranged: Effect) -> None:
    """With its own key and arguments; the ledger has no other."""
    todo = runs.execute(todo)
    with runs.tenant.tx():
        [effect] = Effect.objects.all()
    assert (todo.status, effect.pk, effect.state) == ("completed", arranged.pk, "done")
    assert effect.result["message"] == {**LETTER, "to": "ada@example.com", "name": "Ada Lovelace"}


def test_it_waits_for_the_next_yes_when_the_todo_is_put_back(runs: Runs, todo: Todo, arranged: Effect) -> None:
    """Nothing is cancelled that is to be approved again."""
    approved = runs.approved(todo)
    runs.do(return_to_review, approved, reason="Something changed.", actor=Actor("Nello"))
    runs.run(todo)
    assert runs.execute(runs.now(todo)).status == "completed"


def test_it_waits_for_the_next_yes_when_its_approval_ends_as_it_is_begun(
    runs: Runs, todo: Todo, arranged: Effect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The customer's address changes in between."""

    async def later(*arguments: Any, **details: Any) -> Any:
        monkeypatch.undo()
        await in_db(runs.do, give_fields, runs.conversation.persona, {"email": "ada@other.example"})
        return await carry_out_calls(*arguments, **details)

    monkeypatch.setattr(run, "carry_out_calls", later)
    todo = runs.execute(todo)
    with runs.tenant.tx():
        assert (todo.status, Effect.objects.get().state) == ("pending_review", "planned")
    assert runs.execute(todo).status == "completed"


def test_an_arranged_effect_that_failed_is_tried_again_with_the_next_yes(
    runs: Runs, todo: Todo, arranged: Effect
) -> None:
    """It didn't happen, so what the agent said still can; it keeps its key."""
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


def test_what_failed_is_done_as_it_was_edited_under_a_key_of_its_own(runs: Runs, target: Target) -> None:
    """The endpoint knows the old key, and would answer as it did then."""
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
    """What the agent has arranged with a tool of the business's own."""
    with runs.tenant.tx():
        tool = compiled_tools(runs.tenant.project)[name]
        return Effect.objects.create(
            project_id=runs.tenant.project.pk,
            conversation_id=runs.conversation.pk,
            effect_key=effect_key(origin=runs.conversation.pk, tool=name, step=0, index=0),
            tool=name,
            kind=tool.kind,
            delivery=tool.delivery,
            definition=tool.definition.model_dump(mode="json", by_alias=True),
            arguments=arguments,
            arranged_at=timezone.now(),
        )


@pytest.mark.parametrize(("ticked", "status"), [(False, "needs_attention"), (True, "completed")])
def test_an_arranged_effect_that_was_held_back_is_done_if_it_is_ticked(
    ticked: bool, status: str, runs: Runs, todo: Todo, arranged: Effect
) -> None:
    """It is the same effect still, with staff's word for it."""
    runs.execute(runs.frozen())
    assert runs.execute(todo).status == "needs_attention"
    runs.do(review_again, todo.pk, actor=Actor("Nello"), repeats=[arranged.pk] if ticked else [])
    assert runs.execute(runs.now(todo)).status == status


@pytest.mark.parametrize(
    ("was", "becomes", "state"),
    [(OTHER, LETTER, "held"), (LETTER, OTHER, "done")],
    ids=["into what was done", "out of what was done"],
)
def test_what_was_edited_is_compared_as_it_is_now(
    was: dict[str, str], becomes: dict[str, str], state: str, runs: Runs, todo: Todo, arranged: Effect
) -> None:
    """The letter that goes out is the one that went out already, or isn't, whatever was arranged first."""
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


def test_what_did_not_happen_is_done_with_the_next_yes(runs: Runs, todo: Todo, arranged: Effect) -> None:
    """Staff reviews it again first, and says then that it didn't happen; a yes before that would do nothing."""
    approved = runs.approved(todo)
    with runs.tenant.tx():
        Effect.objects.filter(pk=arranged.pk).update(state="unknown", attempts=1, started_at=timezone.now())
    assert runs.run(approved).status == "needs_attention"
    runs.do(review_again, todo.pk, actor=Actor("Nello"))
    with pytest.raises(Conflict, match="say first whether it did"):
        runs.approved(runs.now(todo))
    runs.do(resolve, runs.tenant.project, arranged.pk, happened=False, by=runs.boss.pk)
    assert runs.now(todo).status == "pending_review"
    assert runs.execute(runs.now(todo)).status == "completed"


def test_what_a_second_run_leaves_open_is_answered_for_that_run(runs: Runs, target: Target) -> None:
    """The effect is the one that failed in the first, and what staff says of it completes the second."""
    target.answers(Answers(status=400), Answers(drops=True))
    runs.own_tool(target.url)
    effect = planned(runs, NOTIFY, {"body": {"what": "Hello"}})
    todo = runs.execute(runs.todo(source=TodoSource.TOOL, effect=effect))
    runs.do(review_again, todo.pk, actor=Actor("Nello"))
    assert (todo.status, runs.execute(runs.now(todo)).status) == ("failed", "needs_attention")
    runs.do(resolve, runs.tenant.project, effect.pk, happened=True, by=runs.boss.pk)
    assert runs.now(todo).status == "completed"


def test_a_run_that_was_given_up_fails_with_the_reason(runs: Runs) -> None:
    """The job failed for good before anything happened."""
    todo = runs.approved(runs.frozen())
    fail(runs, "The worker that ran this died 8 times in a row.")
    todo = runs.now(todo)
    assert (todo.status, todo.reason) == ("failed", "The worker that ran this died 8 times in a row.")


@pytest.mark.parametrize(
    ("answers", "status", "state"),
    [(Answers(drops=True), "needs_attention", "unknown"), (Answers(status=429), "failed", "failed")],
    ids=["it may have happened", "it did not"],
)
def test_a_run_that_was_given_up_between_two_attempts(
    answers: Answers, status: str, state: str, runs: Runs, target: Target
) -> None:
    """Its call has its end, and what may have happened is asked of staff."""
    target.answers(answers)
    runs.own_tool(target.url, delivery="idempotent")
    todo = runs.execute(runs.frozen(NOTIFY, {"body": {"what": "Hello"}}), hurry=False)
    fail(runs, "The worker that ran this died 8 times in a row.")
    [call] = runs.calls(todo)
    assert call.effect is not None
    assert (runs.now(todo).status, call.effect.state, call.finished_at is None) == (status, state, False)


def test_a_failed_run_is_approved_again_and_not_just_run_again(runs: Runs) -> None:
    runs.approved(runs.frozen())
    job = fail(runs, "It broke.")
    with pytest.raises(WrongState, match="approve what is to be done"), runs.tenant.tx():
        run_again(runs.tenant.project, job.id)


def test_a_todo_that_was_cancelled_before_its_run_does_nothing(runs: Runs) -> None:
    todo = runs.approved(runs.frozen())
    runs.do(cancel_todo, todo.pk, actor=Actor("Nello"))
    runs.run(todo)
    with runs.tenant.tx():
        assert [job.state for job in Job.objects.filter(lane="todo")] == [State.SKIPPED]
    assert runs.effects(todo) == []


def fail(runs: Runs, reason: str) -> ClaimedJob:
    """The todo's job has used up its attempts."""
    with runs.tenant.tx():
        row = Job.objects.get(lane="todo", state=State.QUEUED)
        Job.objects.filter(pk=row.pk).update(state=State.RUNNING, token=1)
    values: dict[str, Any] = {name: getattr(row, name) for name in ("id", "lane", "subject_id", "ordinal", "key")}
    job = ClaimedJob(organization_id=runs.tenant.organization.pk, token=1, attempt=8, max_attempts=8, **values)
    fail_job(job, reason=reason)
    return job
