"""Todos done by hand: taken on, and completed or failed by a person."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.exceptions import PermissionDenied
from django.db.models.functions import Now

from console.sidebar_badges import Badge, sidebar_badges
from conversations.models import Conversation
from jobs.errors import WrongState
from jobs.models import Job
from projects.agents.services import create_project
from projects.common.api_error import Conflict
from projects.models import Member, Project, Role
from tests.console.pages.conftest import add_promise, talk
from tests.lane_runs import run_lanes
from tests.todos.conftest import REFUND, Desk
from todos import services
from todos.approvals import manual_completion
from todos.approvals.validity import InvalidApproval
from todos.content.lifecycle import Actor
from todos.executor.finish import fail_run
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import TodoChanged
from tools.engine.catalogue import CUSTOM
from tools.models import Effect, EffectState, Evidence, Promise, PromiseState

S = TodoStatus


def take(desk: Desk, todo: Todo, by: Member, **seen: Any) -> Todo:
    seen = seen or desk.seen(todo)
    return desk.do(manual_completion.take_todo, todo.pk, **seen, actor=Actor(by.user.name, by.pk), member=by)  # type: ignore[no-any-return]


def complete(desk: Desk, todo: Todo, by: Member, note: str = "") -> Todo:
    return desk.do(manual_completion.complete_todo, todo.pk, actor=Actor(by.user.name, by.pk), note=note)  # type: ignore[no-any-return]


def fail(desk: Desk, todo: Todo, by: Member, reason: str = "Nobody answers.") -> Todo:
    return desk.do(manual_completion.fail_todo, todo.pk, actor=Actor(by.user.name, by.pk), reason=reason)  # type: ignore[no-any-return]


def put(desk: Desk, todo: Todo, status: TodoStatus) -> Todo:
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(status=status)
    return desk.now(todo)


def arranged(desk: Desk, conversation: Conversation, **fields: Any) -> tuple[Todo, Effect]:
    """A todo that runs a planned effect with a promise."""
    with desk.tenant.tx():
        effect = Effect.objects.create(
            project_id=desk.tenant.project.pk,
            conversation_id=conversation.pk,
            effect_key=uuid4().hex,
            tool=REFUND,
            tool_origin=CUSTOM,
            kind="webhook",
            delivery="once",
            definition={},
            arguments={"body": {"amount": 82}},
            **fields,
        )
    return desk.refund(effect=effect, source=TodoSource.TOOL, conversation_id=conversation.pk), effect


def work(desk: Desk) -> list[Job]:
    """Let a worker run every due job."""
    run_lanes("todo")
    return desk.jobs()


def test_a_todo_without_tools_is_taken_on_and_completed(desk: Desk, clerk: Member) -> None:
    """The history names the person."""
    todo = take(desk, desk.refund(tool="", arguments=None), clerk)
    assert (todo.status, todo.taker, todo.taken_by, desk.jobs()) == ("in_progress", clerk.user.name, clerk.pk, [])
    done = complete(desk, todo, clerk, "She called back.")
    assert (done.status, done.reason, done.taker) == ("completed", "She called back.", clerk.user.name)
    assert desk.history(todo) == ["made", "approved", "taken", "completed"]


def test_taking_a_pending_todo_on_approves_what_was_seen(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    seen = desk.seen(todo)
    desk.edit(todo, arguments={"body": {"amount": 820}})
    with pytest.raises(TodoChanged, match="82 → 820"):
        take(desk, todo, owner, **seen)
    take(desk, todo, owner)
    with desk.tenant.tx():
        [approval] = todo.approvals.all()
    assert (approval.content["arguments"], approval.approved_by) == ({"body": {"amount": 820}}, owner.pk)


def test_an_overdue_todo_cannot_be_taken_on(desk: Desk, owner: Member) -> None:
    """The sweep has not expired it yet."""
    todo = desk.refund()
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(expires_at=Now() - timedelta(minutes=1))
    with pytest.raises(WrongState, match="This todo was not approved in time"):
        take(desk, todo, owner)


def test_no_worker_runs_a_todo_that_was_taken_on(desk: Desk, owner: Member) -> None:
    """Its job finds no approval, even after a worker died at it."""
    todo = desk.refund()
    desk.approve(todo, owner)
    take(desk, todo, owner)
    assert [job.state for job in work(desk)] == ["skipped"]
    with pytest.raises(InvalidApproval, match="approved"):
        desk.check(todo)
    desk.do(fail_run, desk.now(todo), "The worker died too often.")
    assert (desk.now(todo).status, desk.now(todo).taker) == ("in_progress", owner.user.name)


def test_a_second_person_is_refused_with_the_assignees_name(desk: Desk, owner: Member, clerk: Member) -> None:
    todo = take(desk, desk.refund(), owner)
    take(desk, todo, owner)
    assert desk.history(todo) == ["made", "approved", "taken"]
    with pytest.raises(WrongState, match=f"{owner.user.name} has taken this todo on."):
        take(desk, todo, clerk)


def test_running_and_ended_todos_cannot_be_taken_on(desk: Desk, owner: Member) -> None:
    for status in set(S) - {S.PENDING_REVIEW, S.APPROVED, S.NEEDS_ATTENTION}:
        with pytest.raises(WrongState):
            take(desk, put(desk, desk.refund(), status), owner)


@pytest.mark.parametrize(
    ("state", "status", "why"),
    [
        (EffectState.UNKNOWN, S.NEEDS_ATTENTION, "We don't know whether refund_tool went through"),
        # Put back to review while its endpoint has it, and is to call back.
        (EffectState.SENDING, S.PENDING_REVIEW, "refund_tool is running"),
        (EffectState.SENDING, S.APPROVED, "refund_tool is running"),
    ],
)
def test_an_open_outcome_blocks_taking_a_todo_on(
    state: EffectState, status: TodoStatus, why: str, desk: Desk, owner: Member, conversation: Conversation
) -> None:
    """It might happen twice otherwise."""
    todo, effect = arranged(desk, conversation, state=state)
    put(desk, todo, status)
    with pytest.raises(WrongState, match=why):
        take(desk, todo, owner)
    with desk.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(state=EffectState.FAILED)
    assert take(desk, todo, owner).status == "in_progress"


def test_a_planned_effect_is_completed_by_hand(desk: Desk, owner: Member) -> None:
    """The ledger names the person, and the promise is kept."""
    conversation = talk(desk.tenant, "I want my money back.")
    todo, effect = arranged(desk, conversation)
    promise = add_promise(desk.tenant, conversation, "I'll pay you back.", effect=effect)
    complete(desk, take(desk, todo, owner), owner, "Paid in cash.")
    with desk.tenant.tx():
        effect.refresh_from_db()
        promise.refresh_from_db()
    assert (effect.state, effect.resolved_by, effect.attempts) == ("done", owner.pk, 0)
    assert effect.told == "A colleague did it by hand. Paid in cash."
    assert (promise.state, promise.evidence) == (PromiseState.KEPT, Evidence.PERSON)
    with desk.tenant.tx():
        assert Job.objects.filter(lane="todo_news", key__startswith=f"todo_news:effect:{effect.pk}:done").exists()


def test_a_failed_effect_completed_by_hand_keeps_its_promise(desk: Desk, owner: Member) -> None:
    conversation = talk(desk.tenant, "I want my money back.")
    todo, effect = arranged(desk, conversation, state=EffectState.FAILED)
    promise = add_promise(desk.tenant, conversation, "I'll pay you back.", effect=effect, state=PromiseState.BROKEN)
    complete(desk, take(desk, todo, owner), owner, "Paid in cash.")
    with desk.tenant.tx():
        promise.refresh_from_db()
    assert (promise.state, promise.reason) == (PromiseState.KEPT, manual_completion.DONE_BY_HAND)
    assert promise.evidence == Evidence.PERSON


def test_failing_a_todo_by_hand_breaks_its_promise(desk: Desk, owner: Member) -> None:
    """It is made good like any other."""
    conversation = talk(desk.tenant, "I want my money back.")
    todo, effect = arranged(desk, conversation)
    promise = add_promise(desk.tenant, conversation, "I'll pay you back.", effect=effect)
    failed = fail(desk, take(desk, todo, owner), owner, "The till is empty.")
    with desk.tenant.tx():
        ended = Promise.objects.get(pk=promise.pk)
        effect.refresh_from_db()
    assert "The till is empty." not in effect.told
    assert (failed.status, failed.reason) == ("failed", "The till is empty.")
    assert (ended.state, ended.reason) == (PromiseState.BROKEN, "A colleague couldn't do it. The till is empty.")


def test_a_todo_handed_back_needs_a_new_approval(desk: Desk, owner: Member) -> None:
    """It becomes a new version without an assignee."""
    todo = take(desk, desk.refund(), owner)
    back = desk.do(services.review_again, todo.pk, actor=Actor("Nello"))
    assert (back.status, back.version, back.taker, back.taken_by) == ("pending_review", 2, "", None)
    assert desk.history(todo)[-1] == "handed_back"


def test_a_todo_that_was_taken_on_can_be_cancelled(desk: Desk, owner: Member) -> None:
    todo = take(desk, desk.refund(), owner)
    desk.do(services.cancel_todo, todo.pk, actor=Actor("Nello"), reason="Not needed.")
    assert (desk.now(todo).status, desk.now(todo).reason) == ("cancelled", "Not needed.")


def test_only_todos_that_were_taken_on_are_ended_by_hand(desk: Desk, owner: Member) -> None:
    for status in (S.PENDING_REVIEW, S.APPROVED, S.IN_PROGRESS, S.NEEDS_ATTENTION):
        todo = put(desk, desk.refund(), status)
        for end in (complete, fail):
            with pytest.raises(WrongState, match="Only todos that somebody has taken on"):
                end(desk, todo, owner)


def test_taking_a_pending_todo_on_requires_permission_to_approve(desk: Desk, owner: Member, clerk: Member) -> None:
    """If two approvals are needed, both come first."""
    todo = desk.refund(type=desk.type(approver_role=Role.OWNER))
    with pytest.raises(PermissionDenied):
        take(desk, todo, clerk)
    two = desk.refund(type=desk.type(name="Large", second_approver="always"))
    with pytest.raises(Conflict, match="Two people must approve this"):
        take(desk, two, owner)
    assert (desk.now(two).status, desk.history(two)) == ("pending_review", ["made"])
    desk.approve(two, owner)
    assert take(desk, two, clerk).status == "in_progress"


def todos_badge(project: Project) -> Badge:
    return sidebar_badges(project)["todos"]


def test_todos_waiting_for_a_person_are_counted(desk: Desk, owner: Member) -> None:
    """Approved todos count only without tools."""
    with_tool, without = desk.refund(), desk.refund(tool="", arguments=None)
    desk.approve(with_tool, owner)
    desk.approve(without, owner)
    assert desk.do(todos_badge, desk.tenant.project) == Badge(1)
    other = desk.do(create_project, "Other", config=desk.tenant.project.agent_version.config)
    assert desk.do(todos_badge, other) == Badge(0)
    take(desk, without, owner)
    assert desk.do(todos_badge, desk.tenant.project) == Badge(0)


def test_failed_runs_are_counted_until_they_are_reviewed(desk: Desk, owner: Member) -> None:
    """For a week, and never if a person failed the todo."""
    failed, old, own = desk.refund(), desk.refund(), desk.refund(tool="", arguments=None)
    take(desk, own, owner)
    desk.do(manual_completion.fail_todo, own.pk, actor=Actor("Nello"), reason="Nobody is there.")
    with desk.tenant.tx():
        Todo.objects.filter(pk__in=[failed.pk, old.pk]).update(status="failed", status_at=Now())
        Todo.objects.filter(pk=old.pk).update(status_at=Now() - timedelta(days=8))
    assert desk.do(todos_badge, desk.tenant.project) == Badge(1, failed=1)
    desk.do(services.review_again, failed.pk, actor=Actor("Nello"))
    assert desk.do(todos_badge, desk.tenant.project) == Badge(1)
    desk.do(services.reject_todo, failed.pk, actor=Actor("Nello"))
    assert desk.do(todos_badge, desk.tenant.project) == Badge(0)
