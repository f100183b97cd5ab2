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
from todos.services import cancel_todo, put_back
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
