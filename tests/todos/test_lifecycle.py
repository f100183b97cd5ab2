"""The states of a todo and what moves it."""

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
from tests.todos.conftest import REFUND, Desk
from todos import services
from todos.approvals.validity import InvalidApproval
from todos.content.lifecycle import AGENT, TRANSITIONS, Actor, transition
from todos.expiry import expire_overdue_todos
from todos.hooks import todo_changed
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import TodoChanged
from tools.engine.catalogue import CUSTOM
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
    """How long a yes is waited for, to the minute."""
    return timedelta(minutes=round((todo.expires_at - todo.created_at).total_seconds() / 60))


@pytest.fixture
def heard() -> Iterator[list[str]]:
    """The words that listeners were told."""
    words: list[str] = []

    def listen(todo: Todo, what: str) -> None:
        words.append(what)

    todo_changed.connect(listen)
    yield words
    todo_changed.disconnect(listen)


def test_a_todo_goes_where_the_decision_says() -> None:
    """Also a todo that is reviewed again, and one that is put back because it changed as it ran."""
    assert all(wanted <= TRANSITIONS[status] for status, wanted in DECIDED.items())
    assert TRANSITIONS[S.IN_PROGRESS] - DECIDED[S.IN_PROGRESS] == {S.PENDING_REVIEW}
    assert not any(TRANSITIONS[end] for end in (S.COMPLETED, S.REJECTED, S.EXPIRED, S.CANCELLED))


def test_no_other_way_is_open(desk: Desk) -> None:
    """Tried each way, with the one row."""
    todo = desk.refund()
    for status, to in product(S, S):
        with desk.tenant.tx():
            Todo.objects.filter(pk=todo.pk).update(status=status)
            todo.refresh_from_db()
            if to not in TRANSITIONS[status]:
                with pytest.raises(WrongState):
                    transition(todo, to, what="tried", actor=NELLO)
    assert "tried" not in desk.history(todo)


def test_of_two_who_move_a_todo_one_is_told(desk: Desk) -> None:
    """Compare-and-set."""
    todo = desk.refund()
    with desk.tenant.tx():
        slow = services.get_todo(desk.tenant.project, todo.pk)
        transition(todo, S.REJECTED, what="rejected", actor=NELLO)
        with pytest.raises(WrongState, match="rejected meanwhile"):
            transition(slow, S.CANCELLED, what="cancelled", actor=NELLO)


# Making


def test_a_todo_waits_for_review(desk: Desk) -> None:
    todo = desk.refund()
    assert (todo.status, todo.version, desk.history(todo)) == ("pending_review", 1, ["made"])
    assert waits(todo) == timedelta(days=7)


def test_one_cause_is_one_todo(desk: Desk) -> None:
    assert desk.refund(source_key="promise:1").pk == desk.refund(820, source_key="promise:1").pk


def test_a_type_says_how_long_a_yes_is_waited_for(desk: Desk) -> None:
    assert waits(desk.refund(type=desk.type(expires_after_hours=2))) == timedelta(hours=2)


BAD_PLANS: list[tuple[dict[str, Any], str]] = [
    ({"tool": "no_such_tool"}, "There is no tool 'no_such_tool'."),
    ({"tool": "send_emial"}, "There is no tool 'send_emial'. Did you mean 'send_email'"),
    ({"tool": "", "arguments": {"a": 1}}, "arguments: name their tool in `tool`."),
    ({"arguments": {}}, "arguments: does not fit required"),
    ({"arguments": {"body": {"amount": "82"}}}, "arguments.body.amount: does not fit type"),
    ({"arguments": {"body": {"amount": 82, "to": "Eve"}}}, "arguments.body: does not fit additionalProperties"),
    ({"arguments": {"body": {"amount": float("nan")}}}, "arguments.body.amount must be a number between"),
    ({"recipients": ["not an address"]}, 'recipients: "not an address" is not an e-mail address.'),
    ({"recipients": [f"{at}@example.com" for at in range(21)]}, "recipients must be a list of at most 20 addresses."),
    ({"tool": "transfer_call_tool", "arguments": {}}, "Tool transfer_call_tool"),
]


def test_a_plan_that_nobody_could_carry_out_is_refused(desk: Desk) -> None:
    for plan, said in BAD_PLANS:
        with pytest.raises(ApiError) as refused:
            desk.refund(**plan)
        assert refused.value.message.startswith(said)


@pytest.mark.requirement("L09")
def test_a_tool_that_is_not_the_types_is_refused(desk: Desk) -> None:
    """An unassigned tool isn't offered."""
    with pytest.raises(ApiError, match="isn't one of the tools of Refund: send_email"):
        desk.refund(type=desk.type(tools=["send_email"]))


# Editing


def test_an_edit_of_an_approved_todo_brings_it_back_to_review(desk: Desk, owner: Member) -> None:
    """In one transaction, and the approval ends with it."""
    todo = desk.refund()
    approval = desk.approve(todo, owner)
    edited = desk.edit(todo, arguments={"body": {"amount": 820}})
    assert (edited.status, edited.version) == ("pending_review", 2)
    with desk.tenant.tx():
        approval.refresh_from_db()
        assert approval.ended_at is not None
        with pytest.raises(InvalidApproval):
            desk.check(todo)


def test_an_edit_of_a_pending_todo_is_a_new_version(desk: Desk) -> None:
    todo = desk.refund()
    assert (desk.edit(todo, description="Pay Bob back").version, desk.history(todo)) == (2, ["made", "edited"])


def test_an_edit_that_changes_nothing_ends_no_approval(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, owner)
    assert desk.edit(todo, description=todo.description, arguments=todo.arguments).status == "approved"


def test_a_todo_that_runs_or_is_over_is_not_edited(desk: Desk) -> None:
    for status in (S.IN_PROGRESS, S.COMPLETED, S.FAILED, S.REJECTED, S.EXPIRED, S.CANCELLED):
        todo = standing(desk, status)
        with pytest.raises(WrongState, match="can't be edited any more"):
            desk.edit(todo, description="Something else")


def test_the_second_of_two_editors_is_told_what_differs(desk: Desk) -> None:
    todo = desk.refund()
    desk.edit(todo, version=1, description="Pay Bob back")
    with pytest.raises(TodoChanged, match="Description: Pay Ada back → Pay Bob back"):
        desk.edit(todo, version=1, description="Pay Eve back")


@pytest.mark.requirement("L09")
def test_an_edited_plan_is_checked_as_a_new_one(desk: Desk) -> None:
    """A new type must have the tool."""
    with pytest.raises(ApiError, match=r"arguments\.body\.amount"):
        desk.edit(desk.refund(), arguments={"body": {"amount": "a lot"}})
    with pytest.raises(ApiError, match="isn't one of the tools of Letter"):
        desk.edit(desk.refund(), type=desk.type(name="Letter", tools=["send_email"]))


@pytest.mark.requirement("L10")
def test_a_plan_holds_nothing_that_its_tool_does_not_read_and_no_book(desk: Desk) -> None:
    """Whoever approves it would take for a part of it what nobody carries out."""
    letter = {"subject": "Your money", "body": "It is on its way."}
    for arguments, said in (
        ({**letter, "cc": "eve@example.com"}, "arguments.cc: the tool doesn't accept it"),
        ({**letter, "body": "x" * 50_000}, "characters; the limit is 50,000."),
    ):
        with pytest.raises(ApiError, match=re.escape(said)):
            desk.refund(tool="send_email_to_caller", arguments=arguments)


def test_a_todo_without_its_tool_is_left_to_a_model(desk: Desk) -> None:
    edited = desk.edit(desk.refund(type=desk.type()), tool="")
    assert (edited.tool, edited.arguments) == ("", None)


def test_an_edit_of_what_was_arranged_is_what_will_be_done(desk: Desk, conversation: Conversation) -> None:
    """The ledger's row runs, so that is what is changed and approved."""
    todo, effect = arranged(desk, conversation)
    desk.edit(todo, arguments={"body": {"amount": 8}})
    with desk.tenant.tx():
        effect.refresh_from_db()
    assert effect.arguments == {"body": {"amount": 8}}


def test_what_was_arranged_keeps_its_tool(desk: Desk, conversation: Conversation) -> None:
    """Its promise is that tool's."""
    todo, _ = arranged(desk, conversation)
    letter = {"tool": "send_email_to_caller", "arguments": {"subject": "Your money", "body": "It is on its way."}}
    with pytest.raises(ApiError, match="what the agent arranged with refund_tool"):
        desk.edit(todo, **letter)


@pytest.mark.parametrize(
    ("begun", "why"),
    [
        ({"state": EffectState.SENDING}, "refund_tool is running with these arguments"),
        ({"state": EffectState.UNKNOWN}, "Confirm the outcome first"),
        ({"state": EffectState.DONE}, "refund_tool already ran with these arguments"),
        ({"state": EffectState.HELD}, "refund_tool was held back"),
        ({"attempts": 1, "callback_hash": "a"}, "an answer to that may still come"),
    ],
    ids=["under way", "unknown", "done", "held", "may be answered"],
)
def test_what_was_begun_is_not_given_other_arguments(
    desk: Desk, conversation: Conversation, begun: dict[str, Any], why: str
) -> None:
    """Who tries is told why; its words can still be changed."""
    todo, effect = arranged(desk, conversation)
    with desk.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(**begun)
    with pytest.raises(WrongState, match=why):
        desk.edit(todo, arguments={"body": {"amount": 8}})
    assert desk.edit(todo, description="Pay Bob back", arguments={"body": {"amount": 82}}).version == 2


def test_what_was_arranged_cannot_be_swapped_in_the_ledger(
    desk: Desk, conversation: Conversation, owner: Member
) -> None:
    """What runs is what was approved, wherever it is written."""
    todo, effect = arranged(desk, conversation)
    desk.approve(todo, owner)
    with desk.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(arguments={"body": {"amount": 820}})
        with pytest.raises(InvalidApproval) as void:
            desk.check(todo)
    assert void.value.changed == ["arguments"]


def arranged(desk: Desk, conversation: Conversation) -> tuple[Todo, Effect]:
    """A todo that carries out a planned effect."""
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
        )
    return desk.refund(effect=effect, source=TodoSource.TOOL), effect


# Ending


def test_a_rejected_todo_says_why(desk: Desk) -> None:
    todo = desk.refund()
    desk.do(services.reject_todo, todo.pk, actor=NELLO, reason="She was paid yesterday.")
    assert (desk.now(todo).status, desk.now(todo).reason) == ("rejected", "She was paid yesterday.")


def test_a_no_to_another_version_is_refused(desk: Desk) -> None:
    todo = desk.refund()
    desk.edit(todo, description="Pay Bob back")
    with pytest.raises(TodoChanged):
        desk.do(services.reject_todo, todo.pk, actor=NELLO, version=1)


def test_a_cancelled_todo_runs_nothing_more(desk: Desk) -> None:
    """Before its next effect."""
    for status in (S.PENDING_REVIEW, S.APPROVED, S.IN_PROGRESS, S.NEEDS_ATTENTION):
        todo = standing(desk, status)
        desk.do(services.cancel_todo, todo.pk, actor=NELLO)
        with pytest.raises(InvalidApproval, match="This todo is cancelled"):
            desk.check(todo)


def test_what_is_over_is_not_cancelled(desk: Desk) -> None:
    for status in (S.COMPLETED, S.FAILED, S.REJECTED, S.EXPIRED, S.CANCELLED):
        with pytest.raises(WrongState):
            desk.do(services.cancel_todo, standing(desk, status).pk, actor=NELLO)


def test_a_todo_that_nobody_approved_in_time_expires(desk: Desk) -> None:
    todo, fresh = desk.refund(), desk.refund()
    overdue(desk, todo)
    with pytest.raises(WrongState, match="This todo was not approved in time"):
        desk.approve(todo, desk.owner)
    expire_overdue_todos()
    assert (desk.now(todo).status, desk.now(todo).reason) == ("expired", "It was not approved in time.")
    assert desk.now(fresh).status == "pending_review"


def test_an_approval_that_was_not_used_in_time_expires(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, owner)
    overdue(desk, todo)
    expire_overdue_todos()
    assert (desk.now(todo).status, desk.now(todo).reason) == ("expired", "It was not started in time.")


def test_a_yes_makes_a_todo_wait_anew(desk: Desk, owner: Member) -> None:
    """Seven days to say yes, and seven to use it."""
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
def test_a_todo_that_went_wrong_is_reviewed_again(desk: Desk, status: TodoStatus, owner: Member) -> None:
    """A new version, and so a new approval."""
    todo = desk.refund()
    first = desk.approve(todo, owner)
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(status=status)
    again = desk.do(services.review_again, todo.pk, actor=NELLO)
    assert (again.status, again.version) == ("pending_review", 2)
    second = desk.approve(todo, owner)
    assert second.pk != first.pk
    assert [job.key for job in desk.jobs()] == [f"todo:{first.pk}", f"todo:{second.pk}"]


def test_what_is_done_once_more_is_ticked_and_approved(desk: Desk, conversation: Conversation, owner: Member) -> None:
    """The tick is part of what the next yes is said to."""
    todo, effect = arranged(desk, conversation)
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(status=S.NEEDS_ATTENTION)
    desk.do(services.review_again, todo.pk, actor=NELLO, repeats=[effect.pk])
    approval = desk.approve(todo, owner)
    assert (approval.repeats, approval.content["repeats"]) == ([str(effect.pk)], [str(effect.pk)])


def test_what_may_have_happened_is_answered_and_not_ticked(desk: Desk, conversation: Conversation) -> None:
    """A tick would look like an order, and nothing would be done."""
    todo, effect = arranged(desk, conversation)
    with desk.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(state=EffectState.UNKNOWN)
        Todo.objects.filter(pk=todo.pk).update(status=S.NEEDS_ATTENTION)
    with pytest.raises(ApiError, match="Confirm the outcome first"):
        desk.do(services.review_again, todo.pk, actor=NELLO, repeats=[effect.pk])
    assert desk.now(todo).status == "needs_attention"


def test_each_review_has_its_own_ticks(desk: Desk, conversation: Conversation) -> None:
    """What was done once more for the last one isn't done a third time."""
    todo, effect = arranged(desk, conversation)
    for repeats in ([effect.pk], []):
        with desk.tenant.tx():
            Todo.objects.filter(pk=todo.pk).update(status=S.FAILED)
        again = desk.do(services.review_again, todo.pk, actor=NELLO, repeats=repeats)
        assert again.repeats == [str(one) for one in repeats]


@pytest.mark.parametrize(
    "way", [S.PENDING_REVIEW, S.IN_PROGRESS, S.FAILED], ids=["edited", "put back", "reviewed again"]
)
def test_what_is_to_be_reviewed_is_waited_for_anew(desk: Desk, way: TodoStatus) -> None:
    """Otherwise it would expire at once."""
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


def test_only_an_effect_of_the_todo_is_ticked(desk: Desk) -> None:
    todo = standing(desk, S.FAILED)
    with pytest.raises(ApiError, match="is not an effect of this todo"):
        desk.do(services.review_again, todo.pk, actor=NELLO, repeats=[uuid4()])


def test_a_todo_that_did_not_go_wrong_is_not_reviewed_again(desk: Desk) -> None:
    for status in (S.PENDING_REVIEW, S.IN_PROGRESS, S.COMPLETED, S.REJECTED):
        with pytest.raises(WrongState):
            desk.do(services.review_again, standing(desk, status).pk, actor=NELLO)


@pytest.mark.requirement("L11")
def test_a_todo_that_changed_as_it_ran_is_put_back_with_what_it_would_need(desk: Desk, owner: Member) -> None:
    """Another address is seen before it is written to."""
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


def test_listeners_hear_each_entry_inside_the_transaction(desk: Desk, owner: Member, heard: list[str]) -> None:
    todo = desk.refund()
    desk.approve(todo, owner)
    desk.edit(todo, description="Pay Bob back")
    desk.do(services.reject_todo, todo.pk, actor=NELLO)
    assert heard == desk.history(todo) == ["made", "approved", "edited", "rejected"]


def test_a_listener_that_fails_undoes_the_change(desk: Desk, owner: Member) -> None:
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
