"""Saying yes to exactly what was seen, once, by who may."""

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
from todos.approvals.standing_rules import draft_rule, keep_rule
from todos.approvals.validity import Void
from todos.content import deliverability, snapshot, types
from todos.content.deliverability import SENTENCES, MissingContact
from todos.content.lifecycle import Actor
from todos.content.snapshot import content_of, hash_of
from todos.models import Approval, Todo, TodoType
from todos.services import Changed
from tools.engine.custom import service as custom_tools
from tools.services.messaging.sms import COUNTRIES

AN_HOUR_AGO = Now() - timedelta(hours=1)


def change(desk: Desk, todo: Todo, **fields: Any) -> None:
    """Behind everybody's back: no service is asked."""
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(**fields)


def void(desk: Desk, todo: Todo) -> Void:
    with pytest.raises(Void) as raised:
        desk.check(todo)
    return raised.value


def test_an_approved_todo_has_one_job(desk: Desk, owner: Member) -> None:
    """The job is queued in the commit of the yes."""
    todo = desk.refund()
    approval = desk.approve(todo, owner)
    assert desk.now(todo).status == "approved"
    assert [job.key for job in desk.jobs()] == [f"todo:{approval.pk}"]


def test_an_approval_keeps_what_was_seen(desk: Desk, owner: Member) -> None:
    """The content with its hash, who, and until when."""
    todo = desk.refund()
    seen = desk.seen(todo)
    approval = desk.approve(todo, owner)
    assert (approval.content_hash, approval.approved_by) == (seen["content_hash"], owner.pk)
    assert approval.content["arguments"] == {"body": {"amount": 82}}
    assert abs(approval.expires_at - approval.created_at - timedelta(days=7)) < timedelta(minutes=1)


def test_the_approved_content_holds(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    approval = desk.approve(todo, owner)
    assert desk.check(todo).pk == approval.pk


def test_a_todo_that_nobody_approved_is_void(desk: Desk) -> None:
    assert void(desk, desk.refund()).reason == "This todo is to review."


# What was seen, and what it is now


def test_82_that_became_820_is_void(desk: Desk, owner: Member) -> None:
    """Whoever changes the arguments, and however."""
    todo = desk.refund(82)
    desk.approve(todo, owner)
    change(desk, todo, arguments={"body": {"amount": 820}})
    found = void(desk, todo)
    assert found.changed == ["arguments"]
    assert found.reason == "It changed after it was approved: arguments."


def test_every_part_of_the_content_is_bound(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, owner)
    change(desk, todo, description="Pay Ada and Bob back", recipients=["bob@example.com"], repeats=[str(uuid4())])
    assert void(desk, todo).changed == ["description", "recipients", "repeats"]


def test_whatever_decides_what_happens_is_part_of_the_content(desk: Desk, conversation: Conversation) -> None:
    """What its tools come from, what its model reads, and whom it reaches."""
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


def test_a_tool_that_was_saved_anew_is_void(desk: Desk, owner: Member) -> None:
    """The approval is of the version that was seen."""
    todo = desk.refund()
    desk.approve(todo, owner)
    desk.do(custom_tools.save, desk.tenant.project, name=REFUND, document=refund_tool(description="Pays twice."))
    assert void(desk, todo).changed == ["tools"]


def test_a_customer_who_moved_is_void(desk: Desk, owner: Member, conversation: Conversation) -> None:
    """The address that was seen is the one that is written to."""
    todo = desk.refund(conversation_id=conversation.pk, persona_id=conversation.persona_id)
    desk.approve(todo, owner)
    with desk.tenant.tx():
        PersonaField.objects.filter(persona_id=conversation.persona_id, key="email").update(value="eve@example.com")
    assert void(desk, todo).changed == ["contact"]


def test_a_type_with_another_tool_is_void(desk: Desk, owner: Member) -> None:
    """Of a todo whose tools come from its type."""
    kind = desk.type()
    todo = desk.refund(type=kind, tool="", arguments=None)
    desk.approve(todo, owner)
    desk.do(types.save_type, desk.tenant.project, {"tools": [REFUND, "send_email"]}, type_id=kind.pk)
    assert void(desk, todo).changed == ["tools"]


def test_a_yes_to_what_changed_meanwhile_is_refused_with_the_difference(desk: Desk, owner: Member) -> None:
    """Edited in another tab."""
    todo = desk.refund(82)
    seen = desk.seen(todo)
    desk.edit(todo, arguments={"body": {"amount": 820}})
    with pytest.raises(Changed) as refused:
        desk.approve(todo, owner, **seen)
    [difference] = refused.value.changes
    assert (difference.before, difference.after) == ("82", "820")
    assert refused.value.message == "This todo changed since you opened it. Arguments, body, amount: 82 → 820."
    assert desk.now(todo).status == "pending_review"


def test_a_yes_names_the_hash_and_not_the_version_alone(desk: Desk, owner: Member, conversation: Conversation) -> None:
    """A customer's new address makes no new version, and is seen all the same."""
    todo = desk.refund(conversation_id=conversation.pk, persona_id=conversation.persona_id)
    seen = desk.seen(todo)
    with desk.tenant.tx():
        PersonaField.objects.filter(persona_id=conversation.persona_id, key="email").update(value="eve@example.com")
    with pytest.raises(Changed, match=r"Contact, email: ada@example\.com → eve@example\.com"):
        desk.approve(todo, owner, **seen)


def test_a_version_that_never_was_is_refused(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    with pytest.raises(Changed, match="Look at it again"):
        desk.approve(todo, owner, version=7, content_hash=None)


# Two people


def test_a_second_yes_finds_the_first(desk: Desk, owner: Member, clerk: Member) -> None:
    """One approval, whoever comes second."""
    todo = desk.refund()
    seen = desk.seen(todo)
    first, second = desk.approve(todo, owner, **seen), desk.approve(todo, clerk, **seen)
    assert (second.pk, second.approver) == (first.pk, "owner")
    assert len(desk.jobs()) == 1


def test_a_second_yes_to_something_else_is_told_so(desk: Desk, owner: Member, clerk: Member) -> None:
    """Whoever saw another amount has not said yes to this one."""
    todo = desk.refund(82)
    seen = desk.seen(todo)
    desk.edit(todo, arguments={"body": {"amount": 820}})
    desk.approve(todo, owner)
    for named in (seen, {**seen, "version": None}, {**seen, "content_hash": None}):
        with pytest.raises(Changed):
            desk.approve(todo, clerk, **named)


def test_a_yes_after_a_no_is_refused(desk: Desk, owner: Member) -> None:
    """One wins, the other is told."""
    todo = desk.refund()
    seen = desk.seen(todo)
    desk.do(services.reject_todo, todo.pk, actor=Actor("Nello"))
    with pytest.raises(WrongState, match="This todo is rejected"):
        desk.approve(todo, owner, **seen)


def test_a_no_after_a_yes_is_refused(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, owner)
    with pytest.raises(WrongState, match="This todo is approved"):
        desk.do(services.reject_todo, todo.pk, actor=Actor("Nello"))


def test_where_two_are_needed_one_yes_runs_nothing(desk: Desk, owner: Member, clerk: Member) -> None:
    """The second yes queues the job."""
    todo = desk.refund(type=desk.type(second_approver="always"))
    first = desk.approve(todo, owner)
    assert (first.is_complete, desk.now(todo).status, desk.jobs()) == (False, "pending_review", [])
    second = desk.approve(todo, clerk)
    assert (second.pk, second.is_complete, second.second_by) == (first.pk, True, clerk.pk)
    assert (desk.now(todo).status, len(desk.jobs())) == ("approved", 1)


def test_the_same_person_twice_is_one_person(desk: Desk, owner: Member) -> None:
    todo = desk.refund(type=desk.type(second_approver="always"))
    desk.approve(todo, owner)
    assert not desk.approve(todo, owner).is_complete
    assert desk.now(todo).status == "pending_review"


def test_above_the_limit_two_are_needed(desk: Desk, owner: Member) -> None:
    kind = desk.type(second_approver="above", limit_argument="amount", limit_value=50)
    enough = {amount: desk.approve(desk.refund(amount, type=kind), owner).is_complete for amount in (50, 50.01, 820)}
    assert enough == {50: True, 50.01: False, 820: False}


def test_what_cannot_be_compared_with_the_limit_needs_two(desk: Desk, owner: Member) -> None:
    """No model's later choice slips under it."""
    kind = desk.type(second_approver="above", limit_argument="amount", limit_value=50)
    assert not desk.approve(desk.refund(type=kind, tool="", arguments=None), owner).is_complete


# What stands where the amount is looked for, and whether two people have to say yes above 50.
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


def test_an_odd_amount_is_none_below_the_limit(desk: Desk) -> None:
    """Whatever a model or a program writes where the amount stands, one yes is for what is small beyond doubt."""
    found = [(arguments, _needs_second(desk, "amount", arguments)) for arguments, _ in AMOUNTS]
    assert found == AMOUNTS


def test_an_amount_at_a_place_of_its_own_is_the_one_that_counts(desk: Desk) -> None:
    places = [{"query": {"amount": 820}, "body": {"amount": 5}}, {"query": {"amount": 5}, "body": {"amount": 820}}]
    assert [_needs_second(desk, "body.amount", place) for place in places] == [False, True]


def _needs_second(desk: Desk, argument: str, arguments: dict[str, Any]) -> bool:
    with desk.tenant.tx():
        kind = TodoType(second_approver="above", limit_argument=argument, limit_value=Decimal(50))
        return needs_second(Todo(type=kind, arguments=arguments))


def test_what_changed_between_two_yeses_begins_anew(desk: Desk, owner: Member, clerk: Member) -> None:
    """Both say yes to the same."""
    todo = desk.refund(type=desk.type(second_approver="always"))
    first = desk.approve(todo, owner)
    change(desk, todo, arguments={"body": {"amount": 820}})
    second = desk.approve(todo, clerk)
    assert (second.pk == first.pk, second.is_complete, second.approved_by) == (False, False, clerk.pk)
    assert desk.jobs() == []


def test_a_first_yes_of_somebody_who_left_does_not_count(desk: Desk, owner: Member, clerk: Member) -> None:
    todo = desk.refund(type=desk.type(second_approver="always"))
    desk.approve(todo, clerk)
    desk.leave(clerk)
    assert not desk.approve(todo, owner).is_complete


def test_a_second_yes_of_somebody_who_left_does_not_count(desk: Desk, owner: Member, clerk: Member) -> None:
    """Both have to be able to say it still."""
    todo = desk.refund(type=desk.type(second_approver="always"))
    desk.approve(todo, owner)
    desk.approve(todo, clerk)
    desk.leave(clerk)
    assert void(desk, todo).reason == "clerk may not approve this any more."


def test_a_second_yes_gives_it_its_whole_time(desk: Desk, owner: Member, clerk: Member) -> None:
    """What was nearly over when the second came."""
    todo = desk.refund(type=desk.type(second_approver="always", expires_after_hours=2))
    desk.approve(todo, owner)
    with desk.tenant.tx():
        Approval.objects.update(expires_at=Now() + timedelta(minutes=1))
    second = desk.approve(todo, clerk)
    assert second.expires_at - second.created_at > timedelta(minutes=119)
    assert desk.now(todo).expires_at == second.expires_at


def test_a_first_yes_is_enough_once_nobody_has_to_be_the_second(desk: Desk, owner: Member) -> None:
    """Whoever said it says it again, and it runs."""
    kind = desk.type(second_approver="always")
    todo = desk.refund(type=kind)
    first = desk.approve(todo, owner)
    desk.do(types.save_type, desk.tenant.project, {"second_approver": "never"}, type_id=kind.pk)
    again = desk.approve(todo, owner)
    assert (again.pk, again.is_complete, desk.check(todo).pk) == (first.pk, True, first.pk)


def test_a_type_that_wants_two_from_now_on_is_void_with_one(desk: Desk, owner: Member) -> None:
    """What is allowed is read anew."""
    kind = desk.type()
    todo = desk.refund(type=kind)
    desk.approve(todo, owner)
    desk.do(types.save_type, desk.tenant.project, {"second_approver": "always"}, type_id=kind.pk)
    assert void(desk, todo).reason == "A second person has to approve this."


# Who may


def test_a_viewer_may_not(desk: Desk) -> None:
    with pytest.raises(PermissionDenied):
        desk.approve(desk.refund(), desk.join(Role.VIEWER, "viewer"))


def test_a_type_says_who_may(desk: Desk, clerk: Member) -> None:
    todo = desk.refund(type=desk.type(approver_role="admin"))
    with pytest.raises(PermissionDenied, match="at least an admin"):
        desk.approve(todo, clerk)
    assert desk.approve(todo, desk.join(Role.ADMIN, "admin")).is_complete


def test_an_approver_who_lost_the_role_is_void(desk: Desk, clerk: Member) -> None:
    """Permissions are checked again when the approval is used (ASVS 8.3.2)."""
    todo = desk.refund()
    desk.approve(todo, clerk)
    with desk.tenant.tx():
        Member.objects.filter(pk=clerk.pk).update(role=Role.VIEWER)
    assert void(desk, todo).reason == "clerk may not approve this any more."


def test_an_approver_who_was_removed_is_void(desk: Desk, clerk: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, clerk)
    desk.leave(clerk)
    assert "may not approve this any more" in void(desk, todo).reason


def test_an_approver_whose_account_was_closed_is_void(desk: Desk, clerk: Member) -> None:
    """Their membership stands, and they can't sign in."""
    todo = desk.refund()
    desk.approve(todo, clerk)
    User.objects.filter(pk=clerk.user_id).update(is_active=False)
    assert void(desk, todo).reason == "clerk may not approve this any more."


def test_a_key_that_was_revoked_is_void(desk: Desk, tenant: Tenant) -> None:
    """What a stolen key said yes to ends with it."""
    todo = desk.refund()
    with tenant.tx():
        key = create_key(tenant.project, name="shop", scopes=[Scope.OPERATE]).key
        services.approve_todo(todo.pk, version=None, content_hash=None, actor=Actor("the key"), member=None, key=key)
        ApiKey.objects.filter(pk=key.pk).update(revoked_at=Now())
    assert void(desk, todo).reason == "the key may not approve this any more."


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
def test_a_key_approves_what_its_scopes_are_good_for(
    desk: Desk, tenant: Tenant, role: str, scopes: list[Scope], may: bool
) -> None:
    """An operator's by `operate`, an admin's with `configure` too, and never an owner's."""
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


def test_a_key_is_no_person_where_two_are_needed(desk: Desk, tenant: Tenant) -> None:
    todo = desk.refund(type=desk.type(second_approver="always"))
    with tenant.tx(), pytest.raises(PermissionDenied, match="an API key is no person"):
        key = create_key(tenant.project, name="shop", scopes=list(Scope)).key
        services.approve_todo(todo.pk, version=None, content_hash=None, actor=Actor("a key"), member=None, key=key)


def test_a_todo_of_another_tenant_never_was(desk: Desk, owner: Member, stranger: Tenant) -> None:
    todo = desk.refund()
    with stranger.tx(), pytest.raises(Http404):
        services.approve_todo(todo.pk, version=None, content_hash=None, actor=Actor("x"), member=owner)


# What can't be carried out


def test_a_tool_that_is_gone_cannot_be_approved(desk: Desk, owner: Member) -> None:
    todo = desk.refund(type=desk.type(), tool="", arguments=None)
    desk.do(custom_tools.remove, desk.tenant.project, REFUND)
    with pytest.raises(Conflict, match=f"Tool {REFUND} no longer exists."):
        desk.approve(todo, owner)


def test_a_tool_that_went_after_the_yes_is_void(desk: Desk, owner: Member) -> None:
    todo = desk.refund()
    desk.approve(todo, owner)
    desk.do(custom_tools.disable, desk.tenant.project, REFUND)
    assert void(desk, todo).reason == f"Tool {REFUND} is switched off."


def test_what_no_tool_carries_out_waits_approved_for_a_person(desk: Desk, owner: Member) -> None:
    """No job looks for it."""
    todo = desk.refund(tool="", arguments=None)
    assert desk.approve(todo, owner).is_by_hand
    assert (desk.now(todo).status, desk.jobs()) == ("approved", [])


@pytest.mark.requirement("L11")
def test_a_todo_that_may_write_to_nobody_cannot_be_approved(desk: Desk, owner: Member) -> None:
    """Its only tool writes to the todo's recipients, and there are none."""
    letter = desk.type(name="Letter", tools=["send_email"])
    plan = {"type": letter, "tool": "", "arguments": None}
    with pytest.raises(Conflict, match="nobody to write to"):
        desk.approve(desk.refund(**plan), owner)
    assert desk.approve(desk.refund(**plan, recipients=["crew@example.com"]), owner)


@pytest.mark.requirement("L10")
@pytest.mark.parametrize(
    ("tool", "lacks"), [("send_email_to_caller", "e-mail address"), ("send_sms_tool", "phone number")]
)
def test_a_letter_to_a_customer_who_cannot_be_reached_is_not_approved(
    desk: Desk, owner: Member, tenant: Tenant, tool: str, lacks: str
) -> None:
    """Not one with frozen words, and not what the agent would word itself; a rule lets it through as little."""
    with tenant.tx():
        guest = start_conversation(tenant.project, channel=Channel.API, external_id="eve", known={}, metadata={})
    kind = desk.type(name="Letter", tools=[tool, "send_email"])
    words = {"text": "Hello."} if lacks == "phone number" else {"subject": "Hello", "body": "Hello."}
    frozen = {"tool": tool, "arguments": words}
    allowed = {name: {"anything": True} for name in words}
    desk.do(lambda: keep_rule(draft_rule(tenant.project, tool=tool, allowed=allowed, created_by=owner.pk)))
    for plan in (frozen, {"type": kind, "tool": "", "arguments": None}):
        todo = desk.refund(persona_id=guest.persona_id, **plan)
        with pytest.raises(Conflict, match=f"The customer has no {lacks}"):
            desk.approve(todo, owner)
        with pytest.raises(Conflict, match="choose whose it is"):
            desk.approve(desk.refund(**plan), owner)
    desk.do(give_fields, guest.persona, {"phone": "+393331234567", "email": "eve@example.com"})
    assert desk.approve(todo, owner)


@pytest.mark.requirement("L10")
def test_a_text_to_a_number_that_is_not_texted_is_not_approved(desk: Desk, owner: Member, tenant: Tenant) -> None:
    """What the project doesn't text to was found out by the run."""
    with tenant.tx():
        known = {"phone": "+393331234567"}
        guest = start_conversation(
            tenant.project, channel=Channel.API, external_id="eve", known=known, metadata={}
        ).persona_id
    desk.do(set_attribute, tenant.project, COUNTRIES, "DE, US")
    todo = desk.refund(tool="send_sms_tool", arguments={"text": "Hello."}, persona_id=guest)
    with pytest.raises(Conflict, match=r"No text may go .* Texts to IT aren't allowed here"):
        desk.approve(todo, owner)
    desk.do(set_attribute, tenant.project, COUNTRIES, "DE, IT")
    assert desk.approve(todo, owner)


@pytest.mark.requirement("L10")
def test_a_letter_that_reaches_nobody_hinders_nothing_else_and_is_said(desk: Desk, api: Client, tenant: Tenant) -> None:
    """The other tool of the type has its work."""
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
def test_a_letter_to_the_customer_alone_hinders_no_letter_to_the_crew(
    desk: Desk, owner: Member, tenant: Tenant
) -> None:
    """One writes to nobody, the other to whom the todo names."""
    with tenant.tx():
        eve = start_conversation(tenant.project, channel=Channel.API, external_id="eve", known={}, metadata={})
    kind = desk.type(name="Letter", tools=["send_email_to_caller", "send_email"])
    letter = {"type": kind, "tool": "", "arguments": None, "persona_id": eve.persona_id}
    with pytest.raises(Conflict, match="The customer has no e-mail address"):
        desk.approve(desk.refund(**letter), owner)
    assert desk.approve(desk.refund(**letter, recipients=["crew@nello.example"]), owner)


def test_of_several_each_ones_tools_and_customer_are_read_once(
    desk: Desk, owner: Member, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it can run, what its yes is for, and what of it reaches nobody, are said of one reading."""
    kind, persona = desk.type(name="Letter", tools=["send_sms_tool", REFUND]), conversation.persona_id
    chosen = [seen(desk, desk.refund(type=kind, tool="", arguments=None, persona_id=persona)) for _ in range(3)]
    read = list[str]()
    for module, name in [(snapshot, "compile_tools"), (snapshot, "read_contact"), (deliverability, "read_contact")]:
        monkeypatch.setattr(module, name, reading(read, name, getattr(module, name)))
    answers = desk.do(services.approve_many, chosen, actor=Actor("Ada"), member=owner, confirmed=False)
    assert [(answer.refused, answer.approval is None) for answer in answers] == [("", False)] * 3
    assert sorted(read) == ["compile_tools"] * 3 + ["read_contact"] * 3


def seen(desk: Desk, todo: Todo) -> services.Choice:
    with desk.tenant.tx():
        return services.Choice(todo.pk, todo.version, hash_of(content_of(Todo.objects.get(pk=todo.pk))))


def reading(read: list[str], name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """What is read, and that it was."""

    def counted(*given: Any, **named: Any) -> Any:
        read.append(name)
        return real(*given, **named)

    return counted


@pytest.mark.requirement("L11")
def test_a_frozen_letter_goes_to_an_address(desk: Desk, owner: Member) -> None:
    """What is no address is refused where it is written down; to one it needs no other recipients."""
    letter = {"to": "the boss", "subject": "Hello", "body": "Hello."}
    with pytest.raises(ApiError, match=r"arguments\.to: \"the boss\" is no e-mail address"):
        desk.refund(tool="send_email", arguments=letter)
    assert desk.approve(desk.refund(tool="send_email", arguments={**letter, "to": "boss@nello.example"}), owner)


def test_a_todo_whose_type_was_removed_cannot_be_approved(desk: Desk, owner: Member) -> None:
    kind = desk.type()
    todo = desk.refund(type=kind)
    desk.do(types.remove_type, desk.tenant.project, kind.pk)
    with pytest.raises(Conflict, match="The type Refund was removed"):
        desk.approve(todo, owner)


def test_an_approval_that_was_not_used_in_time_is_void(desk: Desk, owner: Member) -> None:
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


def test_more_than_twenty_need_a_second_confirmation(desk: Desk, owner: Member) -> None:
    """Approval fatigue."""
    chosen = [services.Choice(uuid4(), 1, "0" * 64) for _ in range(21)]
    with pytest.raises(Conflict, match="about to approve 21 todos"):
        approve_many(desk, chosen, owner, confirmed=False)
    assert len(approve_many(desk, chosen, owner, confirmed=True)) == 21
    assert len(approve_many(desk, chosen[:20], owner, confirmed=False)) == 20


def test_one_that_is_refused_hinders_no_other(desk: Desk, owner: Member) -> None:
    """Each is seen by itself."""
    todos = [desk.refund(amount) for amount in (1, 2, 3)]
    chosen = choices(desk, todos)
    desk.edit(todos[1], arguments={"body": {"amount": 820}})
    answers = approve_many(desk, chosen, owner, confirmed=False)
    assert [bool(answer.approval) for answer in answers] == [True, False, True]
    assert "2 → 820" in answers[1].refused
    assert [desk.now(todo).status for todo in todos] == ["approved", "pending_review", "approved"]
