"""The states of a todo and its operations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Any
from uuid import uuid4

import pytest
from django.db.models.functions import Now

from conversations.models import Conversation
from jobs.errors import WrongState
from projects.common.api_error import ApiError
from projects.models import Member
from tests.conftest import Tenant
from tests.todos.conftest import Desk
from tests.todos.test_by_hand import arranged
from todos import services
from todos.approvals.validity import InvalidApproval
from todos.content.lifecycle import AGENT, TRANSITIONS, Actor, transition
from todos.expiry import expire_overdue_todos
from todos.hooks import todo_changed
from todos.models import Todo, TodoStatus
from todos.services import TodoChanged
from tools.models import Effect, EffectState

S = TodoStatus
NELLO = Actor("Nello")
# The life of a todo as it was decided, written down a second time on purpose.
DECIDED = {
    S.PENDING_REVIEW: {S.APPROVED, S.REJECTED, S.EXPIRED, S.CANCELLED},
    S.APPROVED: {S.IN_PROGRESS, S.PENDING_REVIEW, S.EXPIRED, S.CANCELLED},
    S.IN_PROGRESS: {S.COMPLETED, S.FAILED, S.NEEDS_ATTENTION, S.CANCELLED},
}


def standing(desk: Desk, status: TodoStatus, **details: Any) -> Todo:
    """A todo in this state."""
    todo = desk.refund(**details)
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(status=status)
    return desk.now(todo)


def overdue(desk: Desk, todo: Todo) -> None:
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(expires_at=Now() - timedelta(minutes=1))


def waits(todo: Todo) -> timedelta:
    """The time until the todo expires, to the minute."""
    return timedelta(minutes=round((todo.expires_at - todo.created_at).total_seconds() / 60))


@pytest.fixture
def heard() -> Iterator[list[str]]:
    """The entries that listeners received."""
    words: list[str] = []

    def listen(todo: Todo, what: str) -> None:
        words.append(what)

    todo_changed.connect(listen)
    yield words
    todo_changed.disconnect(listen)


def test_allowed_transitions_succeed() -> None:
    assert all(wanted <= TRANSITIONS[status] for status, wanted in DECIDED.items())
    assert TRANSITIONS[S.IN_PROGRESS] - DECIDED[S.IN_PROGRESS] == {S.PENDING_REVIEW}
    assert TRANSITIONS[S.REJECTED] == {S.PENDING_REVIEW}
    assert not any(TRANSITIONS[end] for end in (S.COMPLETED, S.EXPIRED, S.CANCELLED))


def test_all_other_transitions_are_refused(desk: Desk) -> None:
    todo = desk.refund()
    for status, to in product(S, S):
        with desk.tenant.tx():
            Todo.objects.filter(pk=todo.pk).update(status=status)
            todo.refresh_from_db()
            if to not in TRANSITIONS[status]:
                with pytest.raises(WrongState):
                    transition(todo, to, what="tried", actor=NELLO)
    assert "tried" not in desk.history(todo)


def test_the_second_of_two_concurrent_transitions_is_refused(desk: Desk) -> None:
    todo = desk.refund()
    with desk.tenant.tx():
        slow = services.get_todo(desk.tenant.project, todo.pk)
        transition(todo, S.REJECTED, what="rejected", actor=NELLO)
        with pytest.raises(WrongState, match="This todo is rejected"):
            transition(slow, S.CANCELLED, what="cancelled", actor=NELLO)


# Making


def test_a_new_todo_is_pending_review(desk: Desk) -> None:
    todo = desk.refund()
    assert (todo.status, todo.version, desk.history(todo)) == ("pending_review", 1, ["made"])
    assert waits(todo) == timedelta(days=7)


def test_one_source_key_makes_one_todo(desk: Desk) -> None:
    assert desk.refund(source_key="promise:1").pk == desk.refund(820, source_key="promise:1").pk


def test_the_type_sets_the_expiry(desk: Desk) -> None:
    assert waits(desk.refund(type=desk.type(expires_after_hours=2))) == timedelta(hours=2)


BAD_PLANS: list[tuple[dict[str, Any], str]] = [
    ({"tool": "no_such_tool"}, "There is no tool 'no_such_tool'."),
    ({"tool": "send_emial"}, "There is no tool 'send_emial'. Did you mean 'send_email'"),
    ({"tool": "", "arguments": {"a": 1}}, "arguments: name their tool in `tool`."),
    ({"arguments": {}}, "arguments.body is missing."),
    ({"arguments": {"body": {"amount": "82"}}}, "arguments.body.amount must be a number."),
    ({"arguments": {"body": {"amount": 82, "to": "Eve"}}}, "arguments.body.to isn’t a field"),
    ({"arguments": {"body": {"amount": float("nan")}}}, "arguments.body.amount must be a number between"),
    ({"recipients": ["not an address"]}, 'recipients: "not an address" is not an e-mail address.'),
    ({"recipients": [f"{at}@example.com" for at in range(21)]}, "recipients must be a list of at most 20 addresses."),
    ({"tool": "transfer_call_tool", "arguments": {}}, "Tool transfer_call_tool"),
]


def test_an_invalid_plan_is_refused(desk: Desk) -> None:
    for plan, said in BAD_PLANS:
        with pytest.raises(ApiError) as refused:
            desk.refund(**plan)
        assert refused.value.message.startswith(said)


@pytest.mark.requirement("L09")
def test_a_tool_outside_the_type_is_refused(desk: Desk) -> None:
    with pytest.raises(ApiError, match="isn't one of the tools of Refund: send_email"):
        desk.refund(type=desk.type(tools=["send_email"]))


# Editing


def test_editing_an_approved_todo_returns_it_to_review(desk: Desk, owner: Member) -> None:
    """The approval ends in the same transaction."""
    todo = desk.refund()
    approval = desk.approve(todo, owner)
    edited = desk.edit(todo, arguments={"body": {"amount": 820}})
    assert (edited.status, edited.version) == ("pending_review", 2)
    with desk.tenant.tx():
        approval.refresh_from_db()
        assert approval.ended_at is not None
        with pytest.raises(InvalidApproval):
            desk.check(todo)


def test_editing_a_pending_todo_makes_a_new_version(desk: Desk) -> None:
    todo = desk.refund()
    assert (desk.edit(todo, description="Pay Bob back").version, desk.history(todo)) == (2, ["made", "edited"])


def test_an_edit_without_changes_keeps_the_approval(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, owner)
    assert desk.edit(todo, description=todo.description, arguments=todo.arguments).status == "approved"


def test_running_and_ended_todos_cannot_be_edited(desk: Desk) -> None:
    for status in (S.IN_PROGRESS, S.COMPLETED, S.FAILED, S.REJECTED, S.EXPIRED, S.CANCELLED):
        todo = standing(desk, status)
        with pytest.raises(WrongState, match="can no longer be edited"):
            desk.edit(todo, description="Something else")


def test_the_second_of_two_editors_sees_the_differences(desk: Desk) -> None:
    todo = desk.refund()
    desk.edit(todo, version=1, description="Pay Bob back")
    with pytest.raises(TodoChanged, match="Description: Pay Ada back → Pay Bob back"):
        desk.edit(todo, version=1, description="Pay Eve back")


@pytest.mark.requirement("L09")
def test_an_edited_plan_is_validated(desk: Desk) -> None:
    with pytest.raises(ApiError, match=r"arguments\.body\.amount"):
        desk.edit(desk.refund(), arguments={"body": {"amount": "a lot"}})
    with pytest.raises(ApiError, match="isn't one of the tools of Letter"):
        desk.edit(desk.refund(), type=desk.type(name="Letter", tools=["send_email"]))


@pytest.mark.requirement("L10")
def test_unknown_and_oversized_arguments_are_refused(desk: Desk) -> None:
    letter = {"subject": "Your money", "body": "It is on its way."}
    for arguments, said in (
        ({**letter, "cc": "eve@example.com"}, "arguments.cc isn’t a field"),
        ({**letter, "body": "x" * 50_000}, "characters; the limit is 50,000."),
    ):
        with pytest.raises(ApiError, match=re.escape(said)):
            desk.refund(tool="send_email_to_caller", arguments=arguments)


def test_removing_the_tool_leaves_the_todo_to_a_model(desk: Desk) -> None:
    edited = desk.edit(desk.refund(type=desk.type()), tool="")
    assert (edited.tool, edited.arguments) == ("", None)


def test_editing_a_planned_effect_changes_the_ledger(desk: Desk, conversation: Conversation) -> None:
    todo, effect = arranged(desk, conversation)
    desk.edit(todo, arguments={"body": {"amount": 8}})
    with desk.tenant.tx():
        effect.refresh_from_db()
    assert effect.arguments == {"body": {"amount": 8}}


def test_the_tool_of_a_planned_effect_cannot_change(desk: Desk, conversation: Conversation) -> None:
    todo, _ = arranged(desk, conversation)
    letter = {"tool": "send_email_to_caller", "arguments": {"subject": "Your money", "body": "It is on its way."}}
    with pytest.raises(ApiError, match="runs refund_tool as the agent planned it"):
        desk.edit(todo, **letter)


@pytest.mark.parametrize(
    ("begun", "why"),
    [
        ({"state": EffectState.SENDING}, "refund_tool is running with these arguments"),
        ({"state": EffectState.UNKNOWN}, "Confirm the outcome first"),
        ({"state": EffectState.DONE}, "refund_tool already ran with these arguments"),
        ({"state": EffectState.HELD}, "refund_tool was held back"),
        ({"attempts": 1, "callback_hash": "a"}, "may still answer"),
    ],
    ids=["under way", "unknown", "done", "held", "may be answered"],
)
def test_the_arguments_of_a_started_effect_cannot_change(
    desk: Desk, conversation: Conversation, begun: dict[str, Any], why: str
) -> None:
    """The description can."""
    todo, effect = arranged(desk, conversation)
    with desk.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(**begun)
    with pytest.raises(WrongState, match=why):
        desk.edit(todo, arguments={"body": {"amount": 8}})
    assert desk.edit(todo, description="Pay Bob back", arguments={"body": {"amount": 82}}).version == 2


def test_changing_a_planned_effect_in_the_ledger_voids_the_approval(
    desk: Desk, conversation: Conversation, owner: Member
) -> None:
    todo, effect = arranged(desk, conversation)
    desk.approve(todo, owner)
    with desk.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(arguments={"body": {"amount": 820}})
        with pytest.raises(InvalidApproval) as void:
            desk.check(todo)
    assert void.value.changed == ["arguments"]


# Ending


def test_a_rejected_todo_has_the_reason(desk: Desk) -> None:
    todo = desk.refund()
    desk.do(services.reject_todo, todo.pk, actor=NELLO, reason="She was paid yesterday.")
    assert (desk.now(todo).status, desk.now(todo).reason) == ("rejected", "She was paid yesterday.")


def test_rejecting_an_old_version_is_refused(desk: Desk) -> None:
    todo = desk.refund()
    desk.edit(todo, description="Pay Bob back")
    with pytest.raises(TodoChanged):
        desk.do(services.reject_todo, todo.pk, actor=NELLO, version=1)


def test_a_cancelled_todo_has_no_valid_approval(desk: Desk) -> None:
    for status in (S.PENDING_REVIEW, S.APPROVED, S.IN_PROGRESS, S.NEEDS_ATTENTION):
        todo = standing(desk, status)
        desk.do(services.cancel_todo, todo.pk, actor=NELLO)
        with pytest.raises(InvalidApproval, match="This todo is canceled"):
            desk.check(todo)


def test_an_ended_todo_cannot_be_cancelled(desk: Desk) -> None:
    for status in (S.COMPLETED, S.FAILED, S.REJECTED, S.EXPIRED, S.CANCELLED):
        with pytest.raises(WrongState):
            desk.do(services.cancel_todo, standing(desk, status).pk, actor=NELLO)


def test_a_pending_todo_expires(desk: Desk) -> None:
    todo, fresh = desk.refund(), desk.refund()
    overdue(desk, todo)
    with pytest.raises(WrongState, match="This todo was not approved in time"):
        desk.approve(todo, desk.owner)
    expire_overdue_todos()
    assert (desk.now(todo).status, desk.now(todo).reason) == ("expired", "Nobody approved it in time.")
    assert desk.now(fresh).status == "pending_review"


def test_an_approved_todo_expires(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, owner)
    overdue(desk, todo)
    expire_overdue_todos()
    assert (desk.now(todo).status, desk.now(todo).reason) == ("expired", "It was not started in time.")


def test_an_approval_restarts_the_expiry(desk: Desk, owner: Member) -> None:
    """Seven days to approve, and seven to run."""
    todo = desk.refund()
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(expires_at=Now() + timedelta(minutes=1))
    approval = desk.approve(todo, owner)
    assert desk.now(todo).expires_at == approval.expires_at


def test_a_running_todo_does_not_expire(desk: Desk) -> None:
    todo = standing(desk, S.IN_PROGRESS)
    overdue(desk, todo)
    expire_overdue_todos()
    assert desk.now(todo).status == "in_progress"


def test_todos_of_all_tenants_expire(desk: Desk, stranger: Tenant) -> None:
    mine, other = desk.refund(), Desk(stranger)
    theirs = other.refund(tool="", arguments=None)
    overdue(desk, mine)
    overdue(other, theirs)
    expire_overdue_todos()
    assert [desk.now(mine).status, other.now(theirs).status] == ["expired", "expired"]


# Again


@pytest.mark.parametrize("status", [S.FAILED, S.NEEDS_ATTENTION])
def test_a_failed_todo_is_reviewed_as_a_new_version(desk: Desk, status: TodoStatus, owner: Member) -> None:
    todo = desk.refund()
    first = desk.approve(todo, owner)
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(status=status)
    again = desk.do(services.review_again, todo.pk, actor=NELLO)
    assert (again.status, again.version) == ("pending_review", 2)
    second = desk.approve(todo, owner)
    assert second.pk != first.pk
    assert [job.key for job in desk.jobs()] == [f"todo:{first.pk}", f"todo:{second.pk}"]


def test_repeats_are_part_of_the_approved_content(desk: Desk, conversation: Conversation, owner: Member) -> None:
    todo, effect = arranged(desk, conversation)
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(status=S.NEEDS_ATTENTION)
    desk.do(services.review_again, todo.pk, actor=NELLO, repeats=[effect.pk])
    approval = desk.approve(todo, owner)
    assert (approval.repeats, approval.content["repeats"]) == ([str(effect.pk)], [str(effect.pk)])


def test_an_unknown_effect_cannot_be_repeated_before_an_answer(desk: Desk, conversation: Conversation) -> None:
    todo, effect = arranged(desk, conversation)
    with desk.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(state=EffectState.UNKNOWN)
        Todo.objects.filter(pk=todo.pk).update(status=S.NEEDS_ATTENTION)
    with pytest.raises(ApiError, match="Confirm the outcome first"):
        desk.do(services.review_again, todo.pk, actor=NELLO, repeats=[effect.pk])
    assert desk.now(todo).status == "needs_attention"


def test_each_review_has_its_own_repeats(desk: Desk, conversation: Conversation) -> None:
    todo, effect = arranged(desk, conversation)
    for repeats in ([effect.pk], []):
        with desk.tenant.tx():
            Todo.objects.filter(pk=todo.pk).update(status=S.FAILED)
        again = desk.do(services.review_again, todo.pk, actor=NELLO, repeats=repeats)
        assert again.repeats == [str(one) for one in repeats]


@pytest.mark.parametrize(
    "way", [S.PENDING_REVIEW, S.IN_PROGRESS, S.FAILED], ids=["edited", "put back", "reviewed again"]
)
def test_returning_to_review_restarts_the_expiry(desk: Desk, way: TodoStatus) -> None:
    todo = standing(desk, way)
    overdue(desk, todo)
    if way == S.PENDING_REVIEW:
        desk.edit(todo, description="Pay Bob back")
    elif way == S.IN_PROGRESS:
        desk.do(services.return_to_review, desk.now(todo), reason="It changed.", actor=AGENT)
    else:
        desk.do(services.review_again, todo.pk, actor=NELLO)
    expire_overdue_todos()
    assert desk.now(todo).status == "pending_review"


def test_only_effects_of_the_todo_can_be_repeated(desk: Desk) -> None:
    todo = standing(desk, S.FAILED)
    with pytest.raises(ApiError, match="is not an effect of this todo"):
        desk.do(services.review_again, todo.pk, actor=NELLO, repeats=[uuid4()])


def test_other_todos_cannot_be_reviewed_again(desk: Desk) -> None:
    for status in (S.PENDING_REVIEW, S.IN_PROGRESS, S.COMPLETED, S.REJECTED):
        with pytest.raises(WrongState):
            desk.do(services.review_again, standing(desk, status).pk, actor=NELLO)


@pytest.mark.requirement("L11")
def test_a_running_todo_returns_to_review_with_new_recipients(desk: Desk, owner: Member) -> None:
    todo = desk.refund(recipients=["ada@example.com"])
    desk.approve(todo, owner)
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(status=S.IN_PROGRESS)
        services.return_to_review(todo, reason="It wants to write to bob.", actor=AGENT, recipients=["bob@example.com"])
    now = desk.now(todo)
    assert (now.status, now.version, now.recipients) == ("pending_review", 2, ["bob@example.com"])
    with pytest.raises(InvalidApproval), desk.tenant.tx():
        desk.check(todo)


# The history


def test_listeners_receive_each_entry_inside_the_transaction(desk: Desk, owner: Member, heard: list[str]) -> None:
    todo = desk.refund()
    desk.approve(todo, owner)
    desk.edit(todo, description="Pay Bob back")
    desk.do(services.reject_todo, todo.pk, actor=NELLO)
    assert heard == desk.history(todo) == ["made", "approved", "edited", "rejected"]


def test_a_failing_listener_rolls_the_change_back(desk: Desk, owner: Member) -> None:
    todo = desk.refund()

    def fail(todo: Todo, what: str) -> None:
        raise RuntimeError("planted")

    todo_changed.connect(fail)
    try:
        with pytest.raises(RuntimeError, match="planted"):
            desk.approve(todo, owner)
    finally:
        todo_changed.disconnect(fail)
    assert (desk.now(todo).status, desk.jobs()) == ("pending_review", [])


def test_every_state_reads_as_english() -> None:
    assert [f"This todo {status.predicate}." for status in TodoStatus] == [
        "This todo waits for review.",
        "This todo is approved.",
        "This todo is in progress.",
        "This todo needs attention.",
        "This todo is completed.",
        "This todo has failed.",
        "This todo is rejected.",
        "This todo has expired.",
        "This todo is cancelled.",
    ]
