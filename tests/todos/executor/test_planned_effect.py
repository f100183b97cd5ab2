"""What the agent arranged and a colleague has to approve: the todo runs that effect, and no other."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from jobs.claimed import ClaimedJob
from jobs.errors import WrongState
from jobs.models import Job, State
from jobs.services import fail_job, run_again
from tests.todos.executor.conftest import LETTER, Runs
from todos.lifecycle import Actor
from todos.models import Todo, TodoSource
from todos.services import cancel_todo, put_back, review_again
from tools.builtin.send_email_tool import TOOL
from tools.ledger import effect_key
from tools.models import Effect


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
    """D16: with its own key and arguments; the ledger has no other."""
    todo = runs.carry_out(todo)
    with runs.tenant.tx():
        [effect] = Effect.objects.all()
    assert (todo.status, effect.pk, effect.state) == ("completed", arranged.pk, "done")
    assert effect.result["message"] == {**LETTER, "to": "ada@example.com", "name": "Ada Lovelace"}


def test_it_waits_for_the_next_yes_when_the_todo_is_put_back(runs: Runs, todo: Todo, arranged: Effect) -> None:
    """T1: nothing is cancelled that is to be approved again."""
    approved = runs.approved(todo)
    runs.do(put_back, approved, reason="Something changed.", actor=Actor("Nello"))
    runs.run(todo)
    assert runs.carry_out(runs.now(todo)).status == "completed"


def test_an_arranged_effect_that_failed_is_tried_again_with_the_next_yes(
    runs: Runs, todo: Todo, arranged: Effect
) -> None:
    """T11: it didn't happen, so what the agent said still can; it keeps its key."""
    with runs.tenant.tx():
        refused = {
            "state": "failed",
            "error": "The mail server refused it.",
            "attempts": 3,
            "finished_at": timezone.now(),
        }
        Effect.objects.filter(pk=arranged.pk).update(**refused)
    assert runs.carry_out(todo).status == "failed"
    runs.do(review_again, todo.pk, actor=Actor("Nello"))
    assert runs.carry_out(runs.now(todo)).status == "completed"
    with runs.tenant.tx():
        [effect] = Effect.objects.all()
    assert (effect.pk, effect.state, effect.attempts) == (arranged.pk, "done", 4)


@pytest.mark.parametrize(("ticked", "status"), [(False, "needs_attention"), (True, "completed")])
def test_an_arranged_effect_that_was_held_back_is_done_if_it_is_ticked(
    ticked: bool, status: str, runs: Runs, todo: Todo, arranged: Effect
) -> None:
    """T11, E6: it is the same effect still, with staff's word for it."""
    with runs.tenant.tx():
        Effect.objects.filter(pk=arranged.pk).update(repeat_key="k")
        done = {"project_id": arranged.project_id, "conversation_id": arranged.conversation_id, "tool": TOOL.name}
        Effect.objects.create(
            effect_key="earlier",
            kind=TOOL.kind,
            delivery=TOOL.delivery,
            definition={},
            repeat_key="k",
            state="done",
            started_at=timezone.now(),
            **done,
        )
    assert runs.carry_out(todo).status == "needs_attention"
    runs.do(review_again, todo.pk, actor=Actor("Nello"), repeats=[arranged.pk] if ticked else [])
    assert runs.carry_out(runs.now(todo)).status == status


def test_a_run_that_was_given_up_fails_with_the_reason(runs: Runs) -> None:
    """The job failed for good before anything happened."""
    todo = runs.approved(runs.frozen())
    fail(runs, "The worker that ran this died 8 times in a row.")
    todo = runs.now(todo)
    assert (todo.status, todo.reason) == ("failed", "The worker that ran this died 8 times in a row.")


def test_a_failed_run_is_approved_again_and_not_just_run_again(runs: Runs) -> None:
    """T11"""
    runs.approved(runs.frozen())
    job = fail(runs, "It broke.")
    with pytest.raises(WrongState, match="approve what is to be done"), runs.tenant.tx():
        run_again(runs.tenant.project, job.id)


def test_a_todo_that_was_cancelled_before_its_run_does_nothing(runs: Runs) -> None:
    """T10"""
    todo = runs.approved(runs.frozen())
    runs.do(cancel_todo, todo.pk, actor=Actor("Nello"))
    runs.run(todo)
    with runs.tenant.tx():
        assert [job.state for job in Job.objects.filter(lane="todo")] == [State.SKIPPED]
    assert runs.effects(todo) == []


def fail(runs: Runs, reason: str) -> ClaimedJob:
    """The todo's job has used up its attempts."""
    with runs.tenant.tx():
        row = Job.objects.get(lane="todo")
        Job.objects.filter(pk=row.pk).update(state=State.RUNNING, token=1)
    values: dict[str, Any] = {name: getattr(row, name) for name in ("id", "lane", "subject_id", "ordinal", "key")}
    job = ClaimedJob(organization_id=runs.tenant.organization.pk, token=1, attempt=8, max_attempts=8, **values)
    fail_job(job, reason=reason)
    return job
