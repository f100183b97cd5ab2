"""The inbox's state of a conversation: assignee, tags, snooze, closed; and what waits for staff."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from conversations.handover import operators
from conversations.handover.assignment import assign
from conversations.inbox import closing, tags
from conversations.inbox.waiting import Reason, Waiting
from conversations.models import Conversation, Event, Tag
from conversations.turns.services import post_message
from jobs.errors import WrongState
from projects.accounts.members import remove_member
from projects.common.api_error import ApiError, Conflict
from projects.models import Member, Role, User
from projects.records.audit import Actor
from tests.conftest import Tenant
from tests.console.pages.conftest import add_effect, add_promise, playground, talk
from tests.conversations.handover.conftest import offer
from tests.conversations.handover.test_requests import ask
from tests.conversations.threads import in_thread
from tests.conversations.tool_runs.turns import Turns
from todos.content.lifecycle import Actor as TodoActor
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import make_todo
from tools.models import EffectState, Escalation, EscalationState, PromiseState

SOON = timedelta(hours=3)


def waiting(tenant: Tenant) -> list[Any]:
    with tenant.tx():
        return Waiting(tenant.project).ids


def events(tenant: Tenant, row: Conversation, idn: str) -> list[dict[str, Any]]:
    with tenant.tx():
        return list(Event.objects.filter(conversation=row, idn=idn).order_by("seq").values_list("payload", flat=True))


def fresh(tenant: Tenant, row: Conversation) -> Conversation:
    with tenant.tx():
        return Conversation.objects.get(pk=row.pk)


def test_an_assignment_is_logged_with_who_and_to_whom(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        assert assign(row.pk, operator, by=tenant.owner)
        assert not assign(row.pk, operator, by=tenant.owner)
    assert fresh(tenant, row).assignee_id == operator.pk
    [payload] = events(tenant, row, "conversation_assigned")
    assert (payload["to"], payload["operator"]) == (operator.name, tenant.owner.pk)


def test_the_second_of_two_assignments_is_told_about_the_first(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        assign(row.pk, operator, by=operator, instead_of=None)
        with pytest.raises(WrongState, match=operator.name):
            assign(row.pk, tenant.owner, by=tenant.owner, instead_of=None)
    assert fresh(tenant, row).assignee_id == operator.pk


def test_two_concurrent_assignments_of_a_free_conversation_have_one_winner(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi")

    def take(user: User) -> bool:
        with tenant.tx():
            return assign(row.pk, user, by=user, instead_of=None)

    with ThreadPoolExecutor(2) as pool:
        works = [in_thread(pool, lambda user=user: take(user)) for user in (operator, tenant.owner)]
        errors = [work.exception() for work in works]
    assert [type(error) for error in errors if error] == [WrongState]


def test_a_takeover_assigns_a_free_conversation(tenant: Tenant, operator: User) -> None:
    free, taken = talk(tenant, "Hi"), talk(tenant, "Hi")
    with tenant.tx():
        assign(taken.pk, tenant.owner, by=tenant.owner)
        for row in (free, taken):
            operators.take_over(row.pk, by=operator)
    assert fresh(tenant, free).assignee_id == operator.pk
    assert fresh(tenant, taken).assignee_id == tenant.owner.pk


def test_a_member_who_leaves_is_assigned_nothing(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        assign(row.pk, operator, by=tenant.owner)
        remove_member(Member.objects.get(user=operator), by=Actor(tenant.owner, Role.OWNER))
    assert fresh(tenant, row).assignee_id is None
    assert [payload["to"] for payload in events(tenant, row, "conversation_assigned")] == [operator.name, ""]


def test_staff_actions_do_not_change_the_order_of_the_list(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi", at=timezone.now() - timedelta(days=2))
    with tenant.tx():
        assign(row.pk, operator, by=operator)
        closing.snooze(row.pk, timezone.now() + SOON, by=operator)
        closing.end_snooze(row.pk, by=operator)
        closing.close(row.pk, by=operator)
    assert fresh(tenant, row).updated_at == row.updated_at


def test_tags_are_added_and_removed_without_undoing_anothers_change(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        vip, wedding, late = (tags.make_tag(tenant.project, name) for name in ("VIP", "Wedding", "Late"))
        tags.change_tags(row.pk, add=[vip, late], remove=[], by=operator)
        tags.change_tags(row.pk, add=[wedding], remove=[late], by=tenant.owner)
        assert not tags.change_tags(row.pk, add=[vip], remove=[late], by=operator)
        assert [tag.name for tag in tags.tags_of([row.pk])[row.pk]] == ["VIP", "Wedding"]
    assert events(tenant, row, "tags_changed")[1]["removed"] == ["Late"]


def test_tag_names_differ_by_more_than_case(tenant: Tenant) -> None:
    with tenant.tx():
        tags.make_tag(tenant.project, "VIP")
        with pytest.raises(Conflict):
            tags.make_tag(tenant.project, "vip")
        assert Tag.objects.count() == 1


def test_a_snoozed_conversation_waits_again_when_its_time_has_come(tenant: Tenant, operator: User) -> None:
    """Without any worker: the time is compared in the query."""
    row = talk(tenant, "Hi", flag="look")
    with tenant.tx():
        closing.snooze(row.pk, timezone.now() + SOON, by=operator)
    assert waiting(tenant) == []
    with tenant.tx():
        Conversation.objects.update(flag="", snoozed_until=Now() - timedelta(seconds=1))
    assert waiting(tenant) == [row.pk]
    with tenant.tx():
        assert Waiting(tenant.project).reasons_of([row.pk]) == {row.pk: [Reason.RETURNED]}


def test_the_sweep_logs_a_snooze_that_ended_once(tenant: Tenant, operator: User) -> None:
    row, later = talk(tenant, "Hi"), talk(tenant, "Hi")
    with tenant.tx():
        for one in (row, later):
            closing.snooze(one.pk, timezone.now() + SOON, by=operator)
        Conversation.objects.filter(pk=row.pk).update(snoozed_until=Now() - timedelta(seconds=1))
    for _ in range(2):
        closing.return_snoozed()
    assert [payload["reason"] for payload in events(tenant, row, "snooze_ended")] == ["time"]
    assert events(tenant, later, "snooze_ended") == []
    assert waiting(tenant) == [row.pk]


def test_a_message_of_the_customer_ends_the_snooze_at_once(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        closing.snooze(row.pk, timezone.now() + SOON, by=operator)
        post_message(row.pk, "Hello?")
    assert fresh(tenant, row).snoozed_until is None
    assert waiting(tenant) == [row.pk]


@pytest.mark.parametrize("hours", [-1, 24 * 400])
def test_a_snooze_ends_within_a_year(tenant: Tenant, operator: User, hours: int) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx(), pytest.raises(ApiError) as error:
        closing.snooze(row.pk, timezone.now() + timedelta(hours=hours), by=operator)
    assert error.value.field == "until"


def test_closing_settles_the_request_and_the_flag_and_sends_the_operator_away(turns: Turns, lucia: User) -> None:
    ask(turns, offer(turns)["escalation"], email="a@b.example")
    with turns.tenant.tx():
        operators.take_over(turns.conversation.pk, by=lucia)
        Conversation.objects.update(flag="look")
        assert closing.close(turns.conversation.pk, by=lucia)
        assert not closing.close(turns.conversation.pk, by=lucia)
        assert Escalation.objects.get().state == EscalationState.RESOLVED
    row = fresh(turns.tenant, turns.conversation)
    assert (row.flag, row.operator_id) == ("", None)
    assert row.closed_at is not None
    assert waiting(turns.tenant) == []


def test_reopening_restores_the_request_and_the_flag_for_whoever_is_first(turns: Turns, lucia: User) -> None:
    ask(turns, offer(turns)["escalation"], email="a@b.example")
    with turns.tenant.tx():
        operators.take_over(turns.conversation.pk, by=lucia)
        Conversation.objects.update(flag="look")
        closing.close(turns.conversation.pk, by=lucia)
        assert closing.reopen(turns.conversation.pk, by=lucia)
        request = Escalation.objects.get()
        reasons = Waiting(turns.tenant.project).reasons_of([turns.conversation.pk])[turns.conversation.pk]
    assert (request.state, request.claimed_by_id, request.resolved_at) == (EscalationState.WAITING, None, None)
    assert reasons == [Reason.ASKED, Reason.FLAGGED]


def test_reopening_restores_only_what_the_last_closing_settled(turns: Turns, lucia: User) -> None:
    ask(turns, offer(turns)["escalation"], email="a@b.example")
    with turns.tenant.tx():
        operators.resolve_request(turns.conversation.pk, by=lucia)
        closing.close(turns.conversation.pk, by=lucia)
        closing.reopen(turns.conversation.pk, by=lucia)
        assert Escalation.objects.get().state == EscalationState.RESOLVED


def test_a_closed_conversation_is_reopened_by_a_new_message(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        closing.close(row.pk, by=operator)
        post_message(row.pk, "One more thing")
    assert fresh(tenant, row).closed_at is None
    assert [payload["reason"] for payload in events(tenant, row, "inbox_reopened")] == ["message"]


def test_closing_over_a_message_that_was_not_seen_is_refused(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        post_message(row.pk, "Wait!")
        with pytest.raises(WrongState, match="wrote again"):
            closing.close(row.pk, by=operator, seen=1)
        with pytest.raises(WrongState, match="wrote again"):
            closing.snooze(row.pk, timezone.now() + SOON, by=operator, seen=1)
        assert closing.close(row.pk, by=operator, seen=2)


def test_another_operators_conversation_is_not_closed(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        operators.take_over(row.pk, by=operator)
        with pytest.raises(WrongState, match=operator.name):
            closing.close(row.pk, by=tenant.owner)


def test_what_happens_after_the_closing_waits_again(tenant: Tenant, operator: User) -> None:
    """An older reason does not bring it back."""
    row = talk(tenant, "Hi")
    add_effect(tenant, row, state=EffectState.UNKNOWN)
    with tenant.tx():
        closing.close(row.pk, by=operator)
    assert waiting(tenant) == []
    with tenant.tx():
        make_todo(
            tenant.project,
            description="Call back",
            source=TodoSource.PERSON,
            actor=TodoActor("Lucia"),
            conversation_id=row.pk,
        )
    assert waiting(tenant) == [row.pk]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (TodoStatus.PENDING_REVIEW, Reason.TO_REVIEW),
        (TodoStatus.NEEDS_ATTENTION, Reason.TODO_ATTENTION),
        (TodoStatus.APPROVED, Reason.TODO_APPROVED),
    ],
)
def test_the_reason_says_what_the_todo_waits_for(tenant: Tenant, status: TodoStatus, reason: Reason) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        details = {"source": TodoSource.PERSON, "actor": TodoActor("Lucia"), "conversation_id": row.pk}
        todo = make_todo(tenant.project, description="Call back", **details)
        Todo.objects.filter(pk=todo.pk).update(status=status)
        assert Waiting(tenant.project).reasons_of([row.pk]) == {row.pk: [reason]}


def test_an_unanswered_message_to_an_operator_waits_until_the_answer(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        operators.take_over(row.pk, by=operator)
        assert Waiting(tenant.project).reasons_of([row.pk]) == {row.pk: [Reason.UNANSWERED]}
    assert waiting(tenant) == [row.pk]
    with tenant.tx():
        operators.answer(row.pk, "Good evening", by=operator)
    assert waiting(tenant) == []


def test_a_promise_broken_in_a_test_waits_for_nobody(tenant: Tenant) -> None:
    row, test = talk(tenant, "Hi"), playground(tenant, "Hi")
    for one in (row, test):
        add_promise(tenant, one, state=PromiseState.BROKEN)
    assert waiting(tenant) == [row.pk]


def test_another_tenants_conversations_are_not_counted(tenant: Tenant, stranger: Tenant) -> None:
    talk(stranger, "Hi", flag="look")
    assert waiting(tenant) == []
