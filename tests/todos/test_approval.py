"""Approvals: bound to the exact content, granted once, by members with permission."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.core.exceptions import PermissionDenied
from django.db.models.functions import Now
from django.http import Http404
from django.test import Client

from conversations.models import Channel, Conversation, PersonaField
from conversations.turns.services import give_fields, start_conversation
from jobs.errors import WrongState
from projects.agents.services import create_key
from projects.common.api_error import ApiError, Conflict
from projects.models import ApiKey, Member, Role, User
from projects.models.key import Scope
from projects.records.attributes import set_attribute
from tests.conftest import Tenant
from tests.todos.conftest import REFUND, Desk, refund_tool
from todos import services
from todos.approvals.permissions import needs_second
from todos.approvals.standing_rules import create_rule, draft_rule
from todos.approvals.validity import InvalidApproval
from todos.content import snapshot, types
from todos.content.deliverability import SENTENCES, MissingContact
from todos.content.lifecycle import Actor
from todos.content.snapshot import content_of, hash_of
from todos.models import Approval, Todo, TodoType
from todos.services import TodoChanged
from tools.engine.custom import service as custom_tools
from tools.services.messaging.sms import COUNTRIES

AN_HOUR_AGO = Now() - timedelta(hours=1)


def change(desk: Desk, todo: Todo, **fields: Any) -> None:
    """Change rows directly, without a service."""
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(**fields)


def void(desk: Desk, todo: Todo) -> InvalidApproval:
    with pytest.raises(InvalidApproval) as raised:
        desk.check(todo)
    return raised.value


def test_an_approved_todo_has_one_job(desk: Desk, owner: Member) -> None:
    """It is queued in the commit of the approval."""
    todo = desk.refund()
    approval = desk.approve(todo, owner)
    assert desk.now(todo).status == "approved"
    assert [job.key for job in desk.jobs()] == [f"todo:{approval.pk}"]


def test_an_approval_stores_content_hash_approver_and_expiry(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    seen = desk.seen(todo)
    approval = desk.approve(todo, owner)
    assert (approval.content_hash, approval.approved_by) == (seen["content_hash"], owner.pk)
    assert approval.content["arguments"] == {"body": {"amount": 82}}
    assert abs(approval.expires_at - approval.created_at - timedelta(days=7)) < timedelta(minutes=1)


def test_an_approval_of_unchanged_content_is_valid(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    approval = desk.approve(todo, owner)
    assert desk.check(todo).pk == approval.pk


def test_a_todo_without_approval_is_not_valid(desk: Desk) -> None:
    assert void(desk, desk.refund()).reason == "This todo waits for review."


# The approved and the current content


def test_changed_arguments_void_the_approval(desk: Desk, owner: Member) -> None:
    """However they were changed."""
    todo = desk.refund(82)
    desk.approve(todo, owner)
    change(desk, todo, arguments={"body": {"amount": 820}})
    found = void(desk, todo)
    assert found.changed == ["arguments"]
    assert found.reason == "Changed after approval: arguments."


def test_a_change_of_any_content_field_voids_the_approval(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, owner)
    change(desk, todo, description="Pay Ada and Bob back", recipients=["bob@example.com"], repeats=[str(uuid4())])
    assert void(desk, todo).changed == ["description", "recipients", "repeats"]


def test_the_content_covers_tools_model_and_contact(desk: Desk, conversation: Conversation) -> None:
    kind = desk.type()
    todo = desk.refund(type=kind, conversation_id=conversation.pk, persona_id=conversation.persona_id)

    def change_number() -> None:
        PersonaField.objects.filter(persona_id=conversation.persona_id, key="phone").update(value="+393330000000")

    changes: dict[str, Any] = {
        "type": lambda: TodoType.objects.filter(pk=kind.pk).update(name="Payment"),
        "model": lambda: TodoType.objects.filter(pk=kind.pk).update(model="another"),
        "contact": change_number,
        "conversation": lambda: Todo.objects.filter(pk=todo.pk).update(conversation_id=None),
    }
    for name, change_it in changes.items():
        before = desk.do(content_of, desk.now(todo))
        desk.do(change_it)
        after = desk.do(content_of, desk.now(todo))
        assert [field for field in before if before[field] != after[field]] == [name]


def test_a_new_tool_version_voids_the_approval(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, owner)
    desk.do(custom_tools.save, desk.tenant.project, name=REFUND, document=refund_tool(description="Pays twice."))
    assert void(desk, todo).changed == ["tools"]


def test_a_changed_customer_address_voids_the_approval(desk: Desk, owner: Member, conversation: Conversation) -> None:
    todo = desk.refund(conversation_id=conversation.pk, persona_id=conversation.persona_id)
    desk.approve(todo, owner)
    with desk.tenant.tx():
        PersonaField.objects.filter(persona_id=conversation.persona_id, key="email").update(value="eve@example.com")
    assert void(desk, todo).changed == ["contact"]


def test_a_changed_tool_of_the_type_voids_the_approval(desk: Desk, owner: Member) -> None:
    kind = desk.type()
    todo = desk.refund(type=kind, tool="", arguments=None)
    desk.approve(todo, owner)
    desk.do(types.save_type, desk.tenant.project, {"tools": [REFUND, "send_email"]}, type_id=kind.pk)
    assert void(desk, todo).changed == ["tools"]


def test_approving_a_changed_todo_is_refused_with_the_differences(desk: Desk, owner: Member) -> None:
    todo = desk.refund(82)
    seen = desk.seen(todo)
    desk.edit(todo, arguments={"body": {"amount": 820}})
    with pytest.raises(TodoChanged) as refused:
        desk.approve(todo, owner, **seen)
    [difference] = refused.value.changes
    assert (difference.before, difference.after) == ("82", "820")
    assert refused.value.message == "This todo changed since you opened it. Arguments, body, amount: 82 → 820."
    assert desk.now(todo).status == "pending_review"


def test_the_hash_detects_changes_within_a_version(desk: Desk, owner: Member, conversation: Conversation) -> None:
    """A customer's new address makes no new version."""
    todo = desk.refund(conversation_id=conversation.pk, persona_id=conversation.persona_id)
    seen = desk.seen(todo)
    with desk.tenant.tx():
        PersonaField.objects.filter(persona_id=conversation.persona_id, key="email").update(value="eve@example.com")
    with pytest.raises(TodoChanged, match=r"Contact, email: ada@example\.com → eve@example\.com"):
        desk.approve(todo, owner, **seen)


def test_an_unknown_version_is_refused(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    with pytest.raises(TodoChanged, match="Reload it"):
        desk.approve(todo, owner, version=7, content_hash=None)


# Two people


def test_approving_again_returns_the_first_approval(desk: Desk, owner: Member, clerk: Member) -> None:
    todo = desk.refund()
    seen = desk.seen(todo)
    first, second = desk.approve(todo, owner, **seen), desk.approve(todo, clerk, **seen)
    assert (second.pk, second.approver) == (first.pk, "owner")
    assert len(desk.jobs()) == 1


def test_approving_again_with_other_content_is_refused(desk: Desk, owner: Member, clerk: Member) -> None:
    todo = desk.refund(82)
    seen = desk.seen(todo)
    desk.edit(todo, arguments={"body": {"amount": 820}})
    desk.approve(todo, owner)
    for named in (seen, {**seen, "version": None}, {**seen, "content_hash": None}):
        with pytest.raises(TodoChanged):
            desk.approve(todo, clerk, **named)


def test_approving_a_rejected_todo_is_refused(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    seen = desk.seen(todo)
    desk.do(services.reject_todo, todo.pk, actor=Actor("Nello"))
    with pytest.raises(WrongState, match="This todo is rejected"):
        desk.approve(todo, owner, **seen)


def test_rejecting_an_approved_todo_is_refused(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, owner)
    with pytest.raises(WrongState, match="This todo is approved"):
        desk.do(services.reject_todo, todo.pk, actor=Actor("Nello"))


def test_the_first_of_two_approvals_queues_no_job(desk: Desk, owner: Member, clerk: Member) -> None:
    todo = desk.refund(type=desk.type(second_approver="always"))
    first = desk.approve(todo, owner)
    assert (first.is_complete, desk.now(todo).status, desk.jobs()) == (False, "pending_review", [])
    second = desk.approve(todo, clerk)
    assert (second.pk, second.is_complete, second.second_by) == (first.pk, True, clerk.pk)
    assert (desk.now(todo).status, len(desk.jobs())) == ("approved", 1)


def test_approving_twice_counts_once(desk: Desk, owner: Member) -> None:
    todo = desk.refund(type=desk.type(second_approver="always"))
    desk.approve(todo, owner)
    assert not desk.approve(todo, owner).is_complete
    assert desk.now(todo).status == "pending_review"


def test_amounts_above_the_limit_need_two_approvals(desk: Desk, owner: Member) -> None:
    kind = desk.type(second_approver="above", limit_argument="amount", limit_value=50)
    enough = {amount: desk.approve(desk.refund(amount, type=kind), owner).is_complete for amount in (50, 50.01, 820)}
    assert enough == {50: True, 50.01: False, 820: False}


def test_values_that_cannot_be_compared_need_two_approvals(desk: Desk, owner: Member) -> None:
    kind = desk.type(second_approver="above", limit_argument="amount", limit_value=50)
    assert not desk.approve(desk.refund(type=kind, tool="", arguments=None), owner).is_complete


# The value at the amount's path, and True if two people have to approve above 50.
AMOUNTS: list[tuple[dict[str, Any], bool]] = [
    ({"body": {"amount": 50}}, False),
    ({"body": {"amount": "50"}}, False),
    ({"body": {"amount": " 50.00 "}}, False),
    ({"body": {"amount": "50.01"}}, True),
    ({"body": {"amount": "5e1000000"}}, True),
    ({"body": {"amount": -820}}, True),
    ({"body": {"amount": "-Infinity"}}, True),
    ({"body": {"amount": "NaN"}}, True),
    ({"body": {"amount": "50,00"}}, True),
    ({"body": {"amount": "€ 5"}}, True),
    ({"body": {"amount": True}}, True),
    ({"body": {"amount": [5]}}, True),
    ({"body": {"amount": None}}, True),
    ({"body": {}}, True),
    ({"query": {"amount": 5}, "body": {"amount": 820}}, True),
    ({"amount": 5, "body": {"amount": 820}}, True),
    ({"amount": 820, "body": {"amount": 5}}, True),
    ({"amount": 5}, False),
    ({"query": {"amount": 5}, "body": {"amount": 50}}, False),
]


def test_malformed_amounts_need_two_approvals(desk: Desk) -> None:
    found = [(arguments, _needs_second(desk, "amount", arguments)) for arguments, _ in AMOUNTS]
    assert found == AMOUNTS


def test_an_amount_at_a_dotted_path_is_compared(desk: Desk) -> None:
    places = [{"query": {"amount": 820}, "body": {"amount": 5}}, {"query": {"amount": 5}, "body": {"amount": 820}}]
    assert [_needs_second(desk, "body.amount", place) for place in places] == [False, True]


def _needs_second(desk: Desk, argument: str, arguments: dict[str, Any]) -> bool:
    with desk.tenant.tx():
        kind = TodoType(second_approver="above", limit_argument=argument, limit_value=Decimal(50))
        return needs_second(Todo(type=kind, arguments=arguments))


def test_a_change_between_two_approvals_starts_over(desk: Desk, owner: Member, clerk: Member) -> None:
    todo = desk.refund(type=desk.type(second_approver="always"))
    first = desk.approve(todo, owner)
    change(desk, todo, arguments={"body": {"amount": 820}})
    second = desk.approve(todo, clerk)
    assert (second.pk == first.pk, second.is_complete, second.approved_by) == (False, False, clerk.pk)
    assert desk.jobs() == []


def test_the_first_approval_of_a_former_member_does_not_count(desk: Desk, owner: Member, clerk: Member) -> None:
    todo = desk.refund(type=desk.type(second_approver="always"))
    desk.approve(todo, clerk)
    desk.leave(clerk)
    assert not desk.approve(todo, owner).is_complete


def test_the_second_approval_of_a_former_member_does_not_count(desk: Desk, owner: Member, clerk: Member) -> None:
    todo = desk.refund(type=desk.type(second_approver="always"))
    desk.approve(todo, owner)
    desk.approve(todo, clerk)
    desk.leave(clerk)
    assert void(desk, todo).reason == "clerk may no longer approve this."


def test_the_second_approval_restarts_the_expiry(desk: Desk, owner: Member, clerk: Member) -> None:
    todo = desk.refund(type=desk.type(second_approver="always", expires_after_hours=2))
    desk.approve(todo, owner)
    with desk.tenant.tx():
        Approval.objects.update(expires_at=Now() + timedelta(minutes=1))
    second = desk.approve(todo, clerk)
    assert second.expires_at - second.created_at > timedelta(minutes=119)
    assert desk.now(todo).expires_at == second.expires_at


def test_the_first_approval_suffices_once_no_second_is_needed(desk: Desk, owner: Member) -> None:
    """Its giver approves again, and the todo runs."""
    kind = desk.type(second_approver="always")
    todo = desk.refund(type=kind)
    first = desk.approve(todo, owner)
    desk.do(types.save_type, desk.tenant.project, {"second_approver": "never"}, type_id=kind.pk)
    again = desk.approve(todo, owner)
    assert (again.pk, again.is_complete, desk.check(todo).pk) == (first.pk, True, first.pk)


def test_requiring_two_approvals_voids_a_single_one(desk: Desk, owner: Member) -> None:
    kind = desk.type()
    todo = desk.refund(type=kind)
    desk.approve(todo, owner)
    desk.do(types.save_type, desk.tenant.project, {"second_approver": "always"}, type_id=kind.pk)
    assert void(desk, todo).reason == "A second person has to approve this."


# Permissions


def test_a_viewer_may_not_approve(desk: Desk) -> None:
    with pytest.raises(PermissionDenied):
        desk.approve(desk.refund(), desk.join(Role.VIEWER, "viewer"))


def test_the_types_role_decides_who_may_approve(desk: Desk, clerk: Member) -> None:
    todo = desk.refund(type=desk.type(approver_role="admin"))
    with pytest.raises(PermissionDenied, match="at least an admin"):
        desk.approve(todo, clerk)
    assert desk.approve(todo, desk.join(Role.ADMIN, "admin")).is_complete


def test_an_approval_is_void_after_its_approver_loses_the_role(desk: Desk, clerk: Member) -> None:
    """Permissions are checked again when the approval is used (ASVS 8.3.2)."""
    todo = desk.refund()
    desk.approve(todo, clerk)
    with desk.tenant.tx():
        Member.objects.filter(pk=clerk.pk).update(role=Role.VIEWER)
    assert void(desk, todo).reason == "clerk may no longer approve this."


def test_an_approval_is_void_after_its_approver_is_removed(desk: Desk, clerk: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, clerk)
    desk.leave(clerk)
    assert "may no longer approve this" in void(desk, todo).reason


def test_an_approval_is_void_after_its_approvers_account_is_closed(desk: Desk, clerk: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, clerk)
    User.objects.filter(pk=clerk.user_id).update(is_active=False)
    assert void(desk, todo).reason == "clerk may no longer approve this."


def test_an_approval_is_void_after_its_key_is_revoked(desk: Desk, tenant: Tenant) -> None:
    todo = desk.refund()
    with tenant.tx():
        key = create_key(tenant.project, name="shop", scopes=[Scope.OPERATE]).key
        services.approve_todo(todo.pk, version=None, content_hash=None, actor=Actor("the key"), member=None, key=key)
        ApiKey.objects.filter(pk=key.pk).update(revoked_at=Now())
    assert void(desk, todo).reason == "the key may no longer approve this."


OPERATE, CONFIGURE = Scope.OPERATE, Scope.CONFIGURE


@pytest.mark.parametrize(
    ("role", "scopes", "may"),
    [
        ("operator", [OPERATE], True),
        ("operator", [CONFIGURE], False),
        ("admin", [OPERATE], False),
        ("admin", [CONFIGURE], False),
        ("admin", [OPERATE, CONFIGURE], True),
        ("owner", list(Scope), False),
    ],
)
def test_a_keys_scopes_decide_what_it_may_approve(
    desk: Desk, tenant: Tenant, role: str, scopes: list[Scope], may: bool
) -> None:
    """Operator approvals need `operate`, admin ones `configure` too; owner ones are never allowed."""
    todo = desk.refund(type=desk.type(approver_role=role))
    with tenant.tx():
        key = create_key(tenant.project, name="shop", scopes=scopes).key
    said = {"version": None, "content_hash": None, "actor": Actor("the key"), "member": None, "key": key}
    if not may:
        with pytest.raises(PermissionDenied, match="this key's scopes don't allow it"):
            desk.do(services.approve_todo, todo.pk, **said)
    else:
        desk.do(services.approve_todo, todo.pk, **said)
    assert desk.now(todo).status == ("approved" if may else "pending_review")


def test_a_key_cannot_approve_where_two_people_are_needed(desk: Desk, tenant: Tenant) -> None:
    todo = desk.refund(type=desk.type(second_approver="always"))
    with tenant.tx(), pytest.raises(PermissionDenied, match="An API key doesn’t count"):
        key = create_key(tenant.project, name="shop", scopes=list(Scope)).key
        services.approve_todo(todo.pk, version=None, content_hash=None, actor=Actor("a key"), member=None, key=key)


def test_a_todo_of_another_tenant_is_not_found(desk: Desk, owner: Member, stranger: Tenant) -> None:
    todo = desk.refund()
    with stranger.tx(), pytest.raises(Http404):
        services.approve_todo(todo.pk, version=None, content_hash=None, actor=Actor("x"), member=owner)


# Todos that can't run


def test_a_todo_with_a_deleted_tool_cannot_be_approved(desk: Desk, owner: Member) -> None:
    todo = desk.refund(type=desk.type(), tool="", arguments=None)
    desk.do(custom_tools.remove, desk.tenant.project, REFUND)
    with pytest.raises(Conflict, match=f"Tool {REFUND} no longer exists."):
        desk.approve(todo, owner)


def test_deleting_a_tool_voids_the_approval(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, owner)
    desk.do(custom_tools.disable, desk.tenant.project, REFUND)
    assert void(desk, todo).reason == f"Tool {REFUND} is switched off."


def test_an_approved_todo_without_tools_waits_for_a_person(desk: Desk, owner: Member) -> None:
    """No job is queued."""
    todo = desk.refund(tool="", arguments=None)
    assert desk.approve(todo, owner).is_by_hand
    assert (desk.now(todo).status, desk.jobs()) == ("approved", [])


@pytest.mark.requirement("L11")
def test_a_todo_without_recipients_cannot_be_approved(desk: Desk, owner: Member) -> None:
    letter = desk.type(name="Letter", tools=["send_email"])
    plan = {"type": letter, "tool": "", "arguments": None}
    with pytest.raises(Conflict, match="no recipients"):
        desk.approve(desk.refund(**plan), owner)
    assert desk.approve(desk.refund(**plan, recipients=["crew@example.com"]), owner)


@pytest.mark.requirement("L10")
@pytest.mark.parametrize(
    ("tool", "lacks"), [("send_email_to_caller", "e-mail address"), ("send_sms_tool", "phone number")]
)
def test_a_message_to_an_unreachable_customer_cannot_be_approved(
    desk: Desk, owner: Member, tenant: Tenant, tool: str, lacks: str
) -> None:
    """Neither by a person nor by a rule."""
    with tenant.tx():
        guest = start_conversation(tenant.project, channel=Channel.API, external_id="eve", known={}, metadata={})
    kind = desk.type(name="Letter", tools=[tool, "send_email"])
    words = {"text": "Hello."} if lacks == "phone number" else {"subject": "Hello", "body": "Hello."}
    frozen = {"tool": tool, "arguments": words}
    allowed = {name: {"anything": True} for name in words}
    desk.do(lambda: create_rule(draft_rule(tenant.project, tool=tool, allowed=allowed, created_by=owner.pk)))
    for plan in (frozen, {"type": kind, "tool": "", "arguments": None}):
        todo = desk.refund(persona_id=guest.persona_id, **plan)
        with pytest.raises(Conflict, match=f"The customer has no {lacks}"):
            desk.approve(todo, owner)
        with pytest.raises(Conflict, match="Choose a customer"):
            desk.approve(desk.refund(**plan), owner)
    desk.do(give_fields, guest.persona, {"phone": "+393331234567", "email": "eve@example.com"})
    assert desk.approve(todo, owner)


def test_a_text_to_a_disallowed_number_cannot_be_approved(desk: Desk, owner: Member, tenant: Tenant) -> None:
    with tenant.tx():
        known = {"phone": "+393331234567"}
        guest = start_conversation(
            tenant.project, channel=Channel.API, external_id="eve", known=known, metadata={}
        ).persona_id
    desk.do(set_attribute, tenant.project, COUNTRIES, "DE, US")
    todo = desk.refund(tool="send_sms_tool", arguments={"text": "Hello."}, persona_id=guest)
    with pytest.raises(Conflict, match=r"can't be texted. Texts to IT aren't allowed here"):
        desk.approve(todo, owner)
    desk.do(set_attribute, tenant.project, COUNTRIES, "DE, IT")
    assert desk.approve(todo, owner)


@pytest.mark.requirement("L10")
def test_an_undeliverable_message_is_reported_and_blocks_no_other_tool(desk: Desk, api: Client, tenant: Tenant) -> None:
    with tenant.tx():
        eve = start_conversation(tenant.project, channel=Channel.API, external_id="eve", known={}, metadata={})
    kind = desk.type(name="Letter", tools=["send_sms_tool", "send_email", REFUND])
    todo = desk.refund(type=kind, tool="", arguments=None, persona_id=eve.persona_id)
    shown = api.get(f"/api/v1/todos/{todo.pk}").json()
    assert (shown["why_not_runnable"], shown["unsent"]) == (
        None,
        [
            {"kind": "sms", "reason": SENTENCES[MissingContact.PHONE]},
            {"kind": "email", "reason": SENTENCES[MissingContact.ADDRESSES]},
        ],
    )
    many = {"todos": [{"todo": str(todo.pk), "version": 1, "content_hash": shown["content_hash"]}], "confirmed": False}
    [answer] = api.post("/api/v1/todos/approve", many, content_type="application/json").json()["results"]
    assert (answer["refused"], answer["unsent"]) == (None, shown["unsent"])


@pytest.mark.requirement("L10", "L11")
def test_an_unreachable_customer_does_not_block_messages_to_recipients(
    desk: Desk, owner: Member, tenant: Tenant
) -> None:
    with tenant.tx():
        eve = start_conversation(tenant.project, channel=Channel.API, external_id="eve", known={}, metadata={})
    kind = desk.type(name="Letter", tools=["send_email_to_caller", "send_email"])
    letter = {"type": kind, "tool": "", "arguments": None, "persona_id": eve.persona_id}
    with pytest.raises(Conflict, match="The customer has no e-mail address"):
        desk.approve(desk.refund(**letter), owner)
    assert desk.approve(desk.refund(**letter, recipients=["crew@nello.example"]), owner)


def test_a_batch_reads_the_tools_and_customer_of_each_todo_once(
    desk: Desk, owner: Member, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, persona = desk.type(name="Letter", tools=["send_sms_tool", REFUND]), conversation.persona_id
    chosen = [seen(desk, desk.refund(type=kind, tool="", arguments=None, persona_id=persona)) for _ in range(3)]
    read = list[str]()
    for module, name in [(snapshot, "compile_tools"), (snapshot, "read_contact")]:
        monkeypatch.setattr(module, name, reading(read, name, getattr(module, name)))
    answers = desk.do(services.approve_many, chosen, actor=Actor("Ada"), member=owner, confirmed=False)
    assert [(answer.refused, answer.approval is None) for answer in answers] == [("", False)] * 3
    assert sorted(read) == ["compile_tools"] * 3 + ["read_contact"] * 3


def seen(desk: Desk, todo: Todo) -> services.Choice:
    with desk.tenant.tx():
        return services.Choice(todo.pk, todo.version, hash_of(content_of(Todo.objects.get(pk=todo.pk))))


def reading(read: list[str], name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """Records what is read."""

    def counted(*given: Any, **named: Any) -> Any:
        read.append(name)
        return real(*given, **named)

    return counted


@pytest.mark.requirement("L11")
def test_a_frozen_message_needs_a_valid_address(desk: Desk, owner: Member) -> None:
    """It needs no other recipients."""
    letter = {"to": "the boss", "subject": "Hello", "body": "Hello."}
    with pytest.raises(ApiError, match=r"arguments\.to: \"the boss\" is not an e-mail address"):
        desk.refund(tool="send_email", arguments=letter)
    assert desk.approve(desk.refund(tool="send_email", arguments={**letter, "to": "boss@nello.example"}), owner)


def test_a_todo_whose_type_was_removed_cannot_be_approved(desk: Desk, owner: Member) -> None:
    kind = desk.type()
    todo = desk.refund(type=kind)
    desk.do(types.remove_type, desk.tenant.project, kind.pk)
    with pytest.raises(Conflict, match="Type Refund was removed"):
        desk.approve(todo, owner)


def test_an_expired_approval_is_void(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    approval = desk.approve(todo, owner)
    with desk.tenant.tx():
        Approval.objects.filter(pk=approval.pk).update(expires_at=AN_HOUR_AGO)
    assert void(desk, todo).is_expired


# Many at once


def choices(desk: Desk, todos: list[Todo]) -> list[services.Choice]:
    return [services.Choice(todo.pk, **desk.seen(todo)) for todo in todos]


def approve_many(
    desk: Desk, chosen: list[services.Choice], by: Member, *, confirmed: bool
) -> list[services.ApprovalResult]:
    actor = Actor(by.user.name, by.pk)
    return desk.do(services.approve_many, chosen, actor=actor, member=by, confirmed=confirmed)  # type: ignore[no-any-return]


def test_more_than_twenty_approvals_need_confirmation(desk: Desk, owner: Member) -> None:
    chosen = [services.Choice(uuid4(), 1, "0" * 64) for _ in range(21)]
    with pytest.raises(Conflict, match="about to approve 21 todos"):
        approve_many(desk, chosen, owner, confirmed=False)
    assert len(approve_many(desk, chosen, owner, confirmed=True)) == 21
    assert len(approve_many(desk, chosen[:20], owner, confirmed=False)) == 20


def test_a_refusal_does_not_affect_the_rest_of_the_batch(desk: Desk, owner: Member) -> None:
    todos = [desk.refund(amount) for amount in (1, 2, 3)]
    chosen = choices(desk, todos)
    desk.edit(todos[1], arguments={"body": {"amount": 820}})
    answers = approve_many(desk, chosen, owner, confirmed=False)
    assert [bool(answer.approval) for answer in answers] == [True, False, True]
    assert "2 → 820" in answers[1].refused
    assert [desk.now(todo).status for todo in todos] == ["approved", "pending_review", "approved"]
