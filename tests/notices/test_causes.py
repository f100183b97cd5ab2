"""Causes that raise a notice, in the transaction of what happened, and those that settle it."""

from __future__ import annotations

from typing import Any

from conversations.handover.assignment import assign
from conversations.inbox.ratings import rate
from conversations.models import Conversation, Message, MessageRole
from conversations.promises.make_good import draft_make_goods
from notices.models import Notice, NoticeKind
from projects.connections.integrations import clear_needs_reauth, mark_needs_reauth
from projects.models import Role, Source
from tests.conftest import Tenant, member_of
from tests.console.pages.conftest import add_effect, add_promise, talk
from tests.notices.conftest import all_notices, member_of_user
from todos.content.lifecycle import AGENT, Actor, transition
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import make_todo, reject_todo
from tools.engine import effect_decisions
from tools.engine.execution.outcome import Outcome
from tools.engine.ledger import store_outcome
from tools.engine.limits.alerts import has_room
from tools.models import Effect, EffectState, Limit, PromiseState
from tools.services.support.escalations import claim_request, make_request, offer_person
from tools.services.support.notices import notify_operators


def unread(tenant: Tenant, kind: NoticeKind) -> list[Notice]:
    return [one for one in all_notices(tenant) if one.kind == kind and one.read_at is None]


def todo_of(tenant: Tenant, **details: Any) -> Todo:
    return make_todo(
        tenant.project, description="Pay Ada back. Soon.", source=TodoSource.PERSON, actor=AGENT, **details
    )


def test_a_pending_todo_notifies_its_approvers_until_it_is_decided(tenant: Tenant) -> None:
    with tenant.tx():
        todo = todo_of(tenant)
    [one] = unread(tenant, NoticeKind.TO_REVIEW)
    assert (one.object_id, one.text) == (todo.pk, "Pay Ada back")
    with tenant.tx():
        reject_todo(todo.pk, actor=AGENT)
    assert unread(tenant, NoticeKind.TO_REVIEW) == []


def test_notices_of_a_todo_name_its_customer(tenant: Tenant) -> None:
    conversation = talk(tenant, "Hello", name="Marta Riva")
    with tenant.tx():
        todo = todo_of(tenant, conversation_id=conversation.pk, persona_id=conversation.persona_id)
    assert [one.text for one in unread(tenant, NoticeKind.TO_REVIEW)] == ["Marta Riva: Pay Ada back"]
    with tenant.tx():
        for status in (TodoStatus.APPROVED, TodoStatus.IN_PROGRESS, TodoStatus.FAILED):
            transition(todo, status, what="x", actor=AGENT)
    assert [one.text for one in unread(tenant, NoticeKind.TODO_FAILED)] == ["Marta Riva: Pay Ada back"]


def test_a_failed_todo_notifies_until_it_is_reviewed_again(tenant: Tenant) -> None:
    with tenant.tx():
        todo = todo_of(tenant)
        for status in (TodoStatus.APPROVED, TodoStatus.IN_PROGRESS, TodoStatus.FAILED):
            transition(todo, status, what="x", actor=AGENT)
    assert len(unread(tenant, NoticeKind.TODO_FAILED)) == 1
    with tenant.tx():
        transition(todo, TodoStatus.PENDING_REVIEW, what="reviewed_again", actor=Actor("Ada"))
    assert unread(tenant, NoticeKind.TODO_FAILED) == []


def test_an_unknown_outcome_notifies_until_staff_answers(tenant: Tenant) -> None:
    effect = add_effect(tenant, talk(tenant, "Hello", name="Marta Riva"), state=EffectState.SENDING, tool="refund_tool")
    with tenant.tx():
        row = Effect.objects.get(pk=effect.pk)
        store_outcome(row, Outcome.unknown("No answer."), state=EffectState.UNKNOWN)
    assert [one.text for one in unread(tenant, NoticeKind.UNKNOWN)] == ["Marta Riva: Refund"]
    with tenant.tx():
        effect_decisions.confirm(Effect.objects.get(pk=effect.pk), by=None)
    assert unread(tenant, NoticeKind.UNKNOWN) == []


def test_a_broken_promise_notifies_once(tenant: Tenant) -> None:
    promise = add_promise(tenant, talk(tenant, "Hello", name="Marta Riva"), state=PromiseState.BROKEN)
    for _ in range(2):
        draft_make_goods()
    [one] = unread(tenant, NoticeKind.BROKEN)
    assert (one.object_id, one.text) == (promise.pk, f"Marta Riva: “{promise.quote}”")


def rated(tenant: Tenant, conversation: Conversation, score: int, comment: str = "") -> None:
    with tenant.tx():
        rate(conversation.pk, score=score, comment=comment)


def answered(tenant: Tenant) -> Conversation:
    conversation = talk(tenant, "Hello", name="Marta")
    with tenant.tx():
        Message.objects.create(conversation=conversation, seq=2, role=MessageRole.AGENT, content="Hello.")
    return conversation


def test_a_bad_rating_notifies_until_the_customer_gives_a_better_one(tenant: Tenant) -> None:
    conversation = answered(tenant)
    rated(tenant, conversation, 2, "Too slow.")
    [one] = unread(tenant, NoticeKind.RATED_BADLY)
    assert (one.object_id, one.text) == (conversation.pk, "Marta 2/5 “Too slow.”")
    rated(tenant, conversation, 4)
    assert unread(tenant, NoticeKind.RATED_BADLY) == []


def test_a_good_rating_notifies_nobody(tenant: Tenant) -> None:
    rated(tenant, answered(tenant), 3)
    assert all_notices(tenant) == []


def test_a_bad_rating_in_a_test_notifies_nobody(tenant: Tenant) -> None:
    conversation = answered(tenant)
    with tenant.tx():
        Conversation.objects.filter(pk=conversation.pk).update(metadata={"playground": True})
    rated(tenant, conversation, 1)
    assert all_notices(tenant) == []


def test_an_assignment_notifies_the_new_assignee_in_place_of_the_old(tenant: Tenant) -> None:
    conversation = talk(tenant, "Hello", name="Marta")
    ada, eve = (member_of(tenant, role) for role in (Role.OPERATOR, Role.ADMIN))
    for assignee in (ada, eve):
        with tenant.tx():
            assign(conversation.pk, assignee, by=tenant.owner)
    [one] = unread(tenant, NoticeKind.ASSIGNED)
    assert (one.member.user, one.text) == (eve, "Marta")


def test_nobody_is_notified_of_what_they_took_themselves(tenant: Tenant) -> None:
    conversation = talk(tenant, "Hello")
    with tenant.tx():
        assign(conversation.pk, tenant.owner, by=tenant.owner)
    assert unread(tenant, NoticeKind.ASSIGNED) == []


def test_a_waiting_customer_notifies_until_somebody_claims_the_request(tenant: Tenant) -> None:
    conversation = talk(tenant, "Hello")
    with tenant.tx():
        request = offer_person(
            project_id=tenant.project.pk,
            conversation_id=conversation.pk,
            turn_id=None,
            effect_id=None,
            reason="The wedding",
        )
        make_request(request, {"name": "Ada"})
        notify_operators(request)
    [one] = unread(tenant, NoticeKind.WAITS)
    assert (one.object_id, one.text) == (conversation.pk, "Ada: The wedding")
    with tenant.tx():
        claim_request(conversation.pk, by=tenant.owner)
    assert unread(tenant, NoticeKind.WAITS) == []


def test_a_reached_limit_notifies(tenant: Tenant) -> None:
    with tenant.tx():
        has_room(tenant.project.pk, Limit.SMS, used=10, most=10)
    assert len(unread(tenant, NoticeKind.LIMIT)) == 1


def test_rejected_credentials_notify_until_they_are_accepted(tenant: Tenant) -> None:
    with tenant.tx():
        source = Source.objects.create(project=tenant.project, kind="twilio")
        mark_needs_reauth(source.pk)
    [one] = unread(tenant, NoticeKind.RECONNECT)
    assert one.member == member_in(tenant)
    with tenant.tx():
        clear_needs_reauth(source.pk)
    assert unread(tenant, NoticeKind.RECONNECT) == []


def member_in(tenant: Tenant) -> object:
    with tenant.tx():
        return member_of_user(tenant.owner)
