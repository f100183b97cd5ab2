"""The board of todos, one todo beside it, the list, the forms, standing rules and types: what they show, and what they do."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from console.todos.arguments import sample_of
from console.todos.invisible_characters import mark_hidden
from conversations.models import Channel, Persona, PersonaField
from conversations.turns.services import give_fields, start_conversation
from projects.models import Member, Role, User
from projects.records.attributes import set_attribute
from tests.conftest import PASSWORD, Tenant, member_of
from tests.console.pages.conftest import add_effect, add_promise, browser, talk
from todos import services
from todos.content import types
from todos.content.lifecycle import AGENT, Actor
from todos.content.snapshot import content_of, hash_of
from todos.models import (
    Approval,
    SecondApprover,
    StandingRule,
    Todo,
    TodoCall,
    TodoEvent,
    TodoSource,
    TodoStatus,
    TodoStep,
    TodoType,
)
from tools.models import Effect, EffectState, PromiseState

MAIL, SMS = "send_email_to_caller", "send_sms_tool"
LETTER = {"subject": "The allergens", "body": "Dear Marta, here is the list."}
Make = Callable[..., Todo]
COLUMNS = {
    "pending_review": "review",
    "approved": "motion",
    "in_progress": "motion",
    "needs_attention": "attention",
    "failed": "attention",
    "completed": "done",
    "rejected": "done",
    "expired": "done",
    "cancelled": "done",
}


@pytest.fixture
def make(tenant: Tenant) -> Make:
    """A todo to be reviewed: an e-mail to Marta with frozen words, unless it is told otherwise."""

    def make(description: str = "Send Marta the allergen list", **details: Any) -> Todo:
        with tenant.tx():
            guest = start_conversation(
                tenant.project,
                channel=Channel.CHAT,
                external_id="marta",
                known={"name": "Marta Riva", "email": "marta@example.com", "phone": "+39 347 555 0142"},
                metadata={},
            )
            standard = {"source": TodoSource.PERSON, "actor": Actor("Ada"), "tool": MAIL, "arguments": LETTER}
            known = {"persona_id": guest.persona_id}
            return services.make_todo(tenant.project, description=description, **{**standard, **known, **details})

    return make


def seen(tenant: Tenant, todo: Todo) -> dict[str, Any]:
    """The version fields that the panel's form sends."""
    with tenant.tx():
        row = Todo.objects.get(pk=todo.pk)
        return {"version": row.version, "hash": hash_of(content_of(row))}


def choice(tenant: Tenant, todo: Todo) -> str:
    shown = seen(tenant, todo)
    return f"{todo.pk}:{shown['version']}:{shown['hash']}"


def is_approvable(tenant: Tenant, todo: Todo, text: str) -> bool:
    """True if the list offers to approve the todo as it is. One that isn't approvable can be selected to be rejected."""
    box = re.search(rf'value="{re.escape(choice(tenant, todo))}"[^>]*>', text)
    assert box is not None
    return "data-approvable" in box[0]


def approve(tenant: Tenant, todo: Todo) -> Approval:
    shown = seen(tenant, todo)
    with tenant.tx():
        member = Member.objects.select_related("user").get(user=tenant.owner)
        return services.approve_todo(
            todo.pk,
            version=shown["version"],
            content_hash=shown["hash"],
            actor=Actor(member.user.name, id=member.pk),
            member=member,
        )


def state(tenant: Tenant, todo: Todo) -> str:
    with tenant.tx():
        return Todo.objects.get(pk=todo.pk).status


def put(tenant: Tenant, todo: Todo, status: TodoStatus, **fields: Any) -> None:
    with tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(status=status, **fields)


def url_of(tenant: Tenant, todo: Todo | None = None, name: str = "todo") -> str:
    if todo is None:
        return reverse("todos", args=[tenant.project.slug])
    return reverse(name, args=[tenant.project.slug, todo.pk])


def page(client: Client, tenant: Tenant, todo: Todo | None = None, query: str = "") -> str:
    response = client.get(url_of(tenant, todo) + query)
    assert response.status_code == 200
    return response.content.decode()


def column(text: str, name: str) -> str:
    return text.partition(f'id="column-{name}"')[2].partition('<div class="td-col"')[0]


# The board


def test_the_empty_board_explains_todos(owner: Client, tenant: Tenant) -> None:
    text = page(owner, tenant)
    assert "No todos yet" in text
    assert "Set up todo types" in text


def test_every_status_has_a_column(owner: Client, tenant: Tenant, make: Make) -> None:
    for status in TodoStatus:
        put(tenant, make(f"It is {status}"), status)
    text = page(owner, tenant)
    for word, name in COLUMNS.items():
        assert f"It is {word}" in column(text, name)
        assert text.count(f"It is {word}") == 1
    headings = {"review": "To review", "motion": "In progress", "attention": "Needs attention", "done": "Done"}
    assert all(heading in column(text, name).partition("</h2>")[0] for name, heading in headings.items())


def test_a_card_shows_its_recipient_and_source(owner: Client, tenant: Tenant, make: Make) -> None:
    make(source=TodoSource.MAKE_GOOD)
    card = column(page(owner, tenant), "review")
    assert "marta@example.com" in card
    assert "from a broken promise" in card


@pytest.mark.requirement("L11")
def test_a_message_to_a_named_address_shows_the_address_first(owner: Client, tenant: Tenant, make: Make) -> None:
    """On the card, among many that are approved at once, and before its words."""
    todo = make(tool="send_email", arguments={**LETTER, "to": "crew@example.com"})
    assert "crew@example.com" in column(page(owner, tenant), "review")
    text = page(owner, tenant, todo)
    assert text.index("crew@example.com", text.index('id="panel"')) < text.index(LETTER["body"])


def test_the_sidebar_counts_todos_that_wait(owner: Client, tenant: Tenant, make: Make) -> None:
    make()
    put(tenant, make(), TodoStatus.NEEDS_ATTENTION)
    put(tenant, make(), TodoStatus.COMPLETED)
    assert ">2<small" in page(owner, tenant).partition("<span>Todos</span>")[2].partition("</a>")[0]


def test_the_dashboard_lists_waiting_todos(owner: Client, tenant: Tenant, make: Make) -> None:
    todo = make()
    address = reverse("dashboard", args=[tenant.project.slug])
    text = owner.get(address).content.decode()
    assert "Todo to review: Send Marta the allergen list" in text
    assert url_of(tenant, todo) in text
    make()
    assert "2 todos need attention" in owner.get(address).content.decode()


@pytest.mark.parametrize(
    ("status", "kind"), [(TodoStatus.NEEDS_ATTENTION, "needs_attention"), (TodoStatus.APPROVED, "approved")]
)
def test_the_dashboard_says_what_a_single_todo_waits_for(
    owner: Client, tenant: Tenant, make: Make, status: TodoStatus, kind: str
) -> None:
    put(tenant, make(tool="", arguments=None), status)
    shown = owner.get(reverse("dashboard", args=[tenant.project.slug])).context["matters"]
    assert [one["matter"].kind for one in shown] == [kind]


def test_another_tenants_todos_are_not_shown(owner: Client, tenant: Tenant, stranger: Tenant, make: Make) -> None:
    todo = make()
    theirs = browser(stranger.owner)
    assert "Send Marta" not in page(theirs, stranger)
    assert theirs.get(reverse("todo", args=[stranger.project.slug, todo.pk])).status_code == 404


# One todo, and approving it


@pytest.mark.requirement("L10")
def test_the_panel_shows_exactly_what_will_be_sent(owner: Client, tenant: Tenant, make: Make) -> None:
    """The recipient is the contact's own address, and stands there before anyone approves."""
    todo = make()
    text = page(owner, tenant, todo)
    for words in (
        "This will be sent",
        "marta@example.com",
        "contact details",
        "+39 347 555 0142",
        *LETTER.values(),
        "Send e-mail to caller, version",
    ):
        assert words in text
    assert f'version 1, <code title="{seen(tenant, todo)["hash"]}">' in text
    assert "No hidden characters." in text


@pytest.mark.requirement("L11")
def test_recipients_are_shown_before_approval(owner: Client, tenant: Tenant, make: Make) -> None:
    with tenant.tx():
        kind = types.save_type(tenant.project, {"name": "Letter", "description": "A letter", "tools": ["send_email"]})
    todo = make(type=kind, tool="", arguments=None, recipients=["office@bianchi.example"])
    text = page(owner, tenant, todo)
    assert "office@bianchi.example" in text
    assert "these addresses only" in text


def test_hidden_and_lookalike_characters_are_marked(owner: Client, tenant: Tenant, make: Make) -> None:
    """So that staff see exactly what will be sent."""
    todo = make(arguments={"subject": "Invo\u200bice", "body": "P\u0430y \u202enow\u202c"})
    text = page(owner, tenant, todo)
    for sign in ("U+200B ZERO WIDTH SPACE", "U+202E RIGHT-TO-LEFT OVERRIDE", "U+0430 CYRILLIC SMALL LETTER A"):
        assert f'title="{sign}"' in text
    assert "4 hidden or lookalike characters" in text
    assert "\u202e" not in text
    assert "\u200b" not in text


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("Dear Åsa, naïve café, 10 €", []),
        ("Привет, Мария", []),
        ("日本語 and English", []),
        ("👨\u200d👩\u200d👧 ❤\ufe0f", []),
        ("see\u2066hidden\u2069", ["U+2066 LEFT-TO-RIGHT ISOLATE", "U+2069 POP DIRECTIONAL ISOLATE"]),
        ("\u3164", ["U+3164 HANGUL FILLER"]),
        ("a\ue0001b", ["U+E000 without a name"]),
        ("bank.\u0441\u043em is here", ["U+0441 CYRILLIC SMALL LETTER ES", "U+043E CYRILLIC SMALL LETTER O"]),
        ("\U0001d407ello", ["U+1D407 MATHEMATICAL BOLD CAPITAL H"]),
        ("a\u0007", ["U+0007 without a name"]),
    ],
)
def test_only_deceptive_characters_are_marked(text: str, signs: list[str]) -> None:
    assert [piece.hidden for piece in mark_hidden(text) if piece.hidden] == signs


def test_an_approval_is_bound_to_the_version_that_was_shown(owner: Client, tenant: Tenant, make: Make) -> None:
    """An edit between the look and the yes is told, and nothing is approved."""
    todo = make()
    shown = seen(tenant, todo)
    with tenant.tx():
        services.edit_todo(todo.pk, {"arguments": {**LETTER, "body": "Send money."}}, actor=Actor("Eve"), version=None)
    response = owner.post(url_of(tenant, todo), {"do": "approve", **shown}, follow=True)
    assert "This todo changed since you opened it" in response.content.decode()
    assert state(tenant, todo) == TodoStatus.PENDING_REVIEW


def test_a_different_hash_refuses_the_approval(owner: Client, tenant: Tenant, make: Make) -> None:
    todo = make()
    owner.post(url_of(tenant, todo), {"do": "approve", "version": 1, "hash": "0" * 64})
    assert state(tenant, todo) == TodoStatus.PENDING_REVIEW


def test_after_an_approval_the_next_todo_is_shown(owner: Client, tenant: Tenant, make: Make) -> None:
    older, newer = make("Older"), make("Newer")
    response = owner.post(url_of(tenant, newer), {"do": "approve", **seen(tenant, newer)})
    assert response.headers["Location"] == url_of(tenant, older)
    assert state(tenant, newer) == TodoStatus.APPROVED


def test_a_rejection_stores_its_reason(owner: Client, tenant: Tenant, make: Make) -> None:
    todo = make()
    owner.post(url_of(tenant, todo), {"do": "reject", "version": 1, "reason": "We don’t do this."})
    assert state(tenant, todo) == TodoStatus.REJECTED
    assert "We don’t do this." in page(owner, tenant, todo)


@pytest.mark.parametrize("verb", ["reject", "take"])
def test_a_changed_todo_is_neither_rejected_nor_taken_unseen(
    verb: str, owner: Client, tenant: Tenant, make: Make
) -> None:
    """The page answers with the difference."""
    todo = make()
    shown = seen(tenant, todo)
    with tenant.tx():
        services.edit_todo(todo.pk, {"description": "Write to Bob"}, actor=Actor("Eve"), version=None)
    version = {"version": 1 if verb == "reject" else 2, "hash": shown["hash"]}
    response = owner.post(url_of(tenant, todo), {"do": verb, **version}, follow=True)
    assert state(tenant, todo) == TodoStatus.PENDING_REVIEW
    assert "This todo changed since you opened it." in response.content.decode()


def test_an_approved_todo_can_be_canceled(owner: Client, tenant: Tenant, make: Make) -> None:
    todo = make()
    approve(tenant, todo)
    owner.post(url_of(tenant, todo), {"do": "cancel"})
    assert state(tenant, todo) == TodoStatus.CANCELLED


def test_an_edit_shows_the_changes_since_the_approval(owner: Client, tenant: Tenant, make: Make) -> None:
    todo = make(arguments={**LETTER, "body": "The tiramisù has no nuts."})
    approve(tenant, todo)
    form = {"description": todo.description, "tool": MAIL, "arguments.subject": LETTER["subject"], "version": 1}
    response = owner.post(
        url_of(tenant, todo, "edit_todo"), {**form, "arguments.body": "The tiramisù has hazelnuts."}, follow=True
    )
    text = response.content.decode()
    assert "Edited since it was approved." in text
    assert "<del>no nuts</del><ins>hazelnuts</ins>" in text
    assert "Approve version 2" in text


def test_details_filled_in_by_the_agent_do_not_count_as_changes(owner: Client, tenant: Tenant, make: Make) -> None:
    """The extraction's words and type are the proposal; only what a person changes afterwards is marked."""
    todo = make(tool="", arguments=None)
    for by, words, is_changed in ((AGENT, "Write to Marta", False), (Actor("Ada"), "Write to Paolo", True)):
        with tenant.tx():
            services.edit_todo(todo.pk, {"description": words}, actor=by, version=None)
        assert ("Edited" in page(owner, tenant)) is is_changed
        text = page(owner, tenant, todo)
        assert ("Edited since it was proposed." in text, "<del>Marta</del>" in text) == (is_changed, is_changed)


@pytest.mark.requirement("L10")
def test_a_missing_customer_address_is_added_in_the_todo_form(owner: Client, tenant: Tenant, make: Make) -> None:
    """The panel names the missing address and links to its field; the form keeps an invalid address."""
    todo = make()
    with tenant.tx():
        PersonaField.objects.filter(key="email").delete()
    text, address = page(owner, tenant, todo), url_of(tenant, todo, "edit_todo")
    assert ("The customer has no e-mail address" in text, 'value="approve"' in text) == (True, False)
    assert f'class="btn btn-primary" href="{address}#contact-email"' in text
    form = {"description": "x", "tool": MAIL, "version": 1, **{f"arguments.{k}": v for k, v in LETTER.items()}}
    refused = owner.post(address, {**form, "contact.email": "marta at home"}).content.decode()
    assert ('id="contact-email-error"' in refused, 'value="marta at home"' in refused) == (True, True)
    owner.post(address, {**form, "contact.email": "marta@example.org"})
    text = page(owner, tenant, todo)
    assert ("marta@example.org" in text, 'value="approve"' in text, "Approve version 2" in text) == (True, True, True)
    assert "Changed: description, contact details." in text
    form["version"] = 2
    assert 'name="contact.email" value="marta@example.org"' in owner.get(address).content.decode()
    owner.post(address, {**form, "contact.email": "marta@example.net"})
    assert "Approve version 3" in page(owner, tenant, todo)


def test_the_form_of_a_value_that_is_no_text_is_shown() -> None:
    order = {"properties": {"dish": {"type": "string"}, "sizes": {"type": "array", "items": {"type": "integer"}}}}
    assert sample_of({"type": "object", **order}) == {"dish": "…", "sizes": [1]}
    assert sample_of({"anyOf": [{"enum": ["red", "white"]}, {"type": "null"}]}) == "red"


@pytest.mark.requirement("L10")
def test_a_missing_argument_is_named_by_its_label_beside_its_field(owner: Client, tenant: Tenant, make: Make) -> None:
    form = {"description": "x", "tool": MAIL, "version": 1, "arguments.subject": "Your table"}
    answer = owner.post(url_of(tenant, make(), "edit_todo"), form)
    error = answer.content.decode().partition('id="arguments-body-error"')[2].partition("</p>")[0]
    assert (answer.status_code, "“Body”" in error, "arguments.body" in error) == (422, True, False)


@pytest.mark.requirement("L10")
def test_an_undeliverable_message_is_shown_next_to_the_button(owner: Client, tenant: Tenant, make: Make) -> None:
    """With the way out; a customer who wants no texts is another thing that is known before."""
    with tenant.tx():
        fields = {"name": "Tell", "description": "x", "tools": [MAIL, SMS, "create_booking_tool"]}
        kind = types.save_type(tenant.project, fields)
        set_attribute(tenant.project, "project_attributes_setting_booking_enabled", True)
        set_attribute(tenant.project, "project_attributes_setting_sms_send_information_enabled", True)
    todo = make(tool="", arguments=None, type=kind)
    with tenant.tx():
        row = PersonaField.objects.filter(key="email").get()
        row.delete()
        PersonaField.objects.create(
            persona_id=row.persona_id, key="sms_opt_in", value="false", quote="No texts, please", strength=row.strength
        )
    text = page(owner, tenant, todo)
    assert "Its e-mail can’t be delivered." in text
    assert f'class="btn btn-quiet" href="{url_of(tenant, todo, "edit_todo")}#contact-email"' in text
    assert ("The customer opted out of texts." in text, "“No texts, please”" in text) == (True, True)
    assert "The customer doesn&#x27;t want text messages." in text
    assert "is sent anyway" not in text
    assert 'value="approve"' in text


@pytest.mark.requirement("L10")
def test_changing_the_customer_does_not_copy_the_address(owner: Client, tenant: Tenant, make: Make) -> None:
    todo = make()
    with tenant.tx():
        other = start_conversation(tenant.project, channel=Channel.CHAT, external_id="eve", known={}, metadata={})
    form = {"description": "x", "tool": MAIL, "version": 1, **{f"arguments.{k}": v for k, v in LETTER.items()}}
    contact = {"persona": str(other.persona_id), "contact.email": "marta@example.com"}
    owner.post(url_of(tenant, todo, "edit_todo"), {**form, **contact})
    with tenant.tx():
        assert Todo.objects.get(pk=todo.pk).persona_id == other.persona_id
        assert not PersonaField.objects.filter(persona_id=other.persona_id).exists()


def test_a_long_task_has_a_short_title_and_is_shown_in_full(owner: Client, tenant: Tenant, make: Make) -> None:
    """Each hidden character is counted once."""
    words = " ".join(["Write to Marta what the chef said about each dish of the menu."] * 4)
    text = page(owner, tenant, make(f"{words}\u200b"))
    title = text.partition('id="panel-title"')[2].partition("</h2>")[0]
    assert ("…" in title, words in title, words in text) == (True, False, True)
    assert "1 hidden or lookalike character," in text


def test_a_held_effect_is_not_announced_as_sent(owner: Client, tenant: Tenant, make: Make) -> None:
    """Nothing more happens of it before it is reviewed again."""
    approve(tenant, todo := make())
    put(tenant, todo, TodoStatus.NEEDS_ATTENTION)
    assert "This will be sent" not in page(owner, tenant, todo)


def test_the_first_approver_is_not_offered_the_second_approval(owner: Client, tenant: Tenant, make: Make) -> None:
    with tenant.tx():
        kind = types.save_type(
            tenant.project,
            {"name": "Refund", "description": "Money", "tools": [MAIL], "second_approver": SecondApprover.ALWAYS},
        )
        colleague = User.objects.create_user("grace@nello.example", "correct horse battery")
        Member.objects.create(user=colleague, role=Role.OPERATOR)
    todo = make(type=kind)
    assert "Needs two approvals." in page(owner, tenant, todo)
    owner.post(url_of(tenant, todo), {"do": "approve", **seen(tenant, todo)})
    text = page(owner, tenant, todo)
    assert "It runs once a second person approves it." in text
    assert 'value="approve"' not in text
    assert "Needs a second approval" in column(text, "review")
    browser(colleague).post(url_of(tenant, todo), {"do": "approve", **seen(tenant, todo)})
    assert state(tenant, todo) == TodoStatus.APPROVED


def test_the_first_approver_can_approve_again_once_one_approval_is_enough(
    owner: Client, tenant: Tenant, make: Make
) -> None:
    """Otherwise a business of one person would wait forever."""
    fields = {"name": "Refund", "description": "Money", "tools": [MAIL], "second_approver": SecondApprover.ALWAYS}
    with tenant.tx():
        kind = types.save_type(tenant.project, fields)
    todo = make(type=kind)
    owner.post(url_of(tenant, todo), {"do": "approve", **seen(tenant, todo)})
    with tenant.tx():
        types.save_type(tenant.project, {"second_approver": SecondApprover.NEVER}, type_id=kind.pk)
    text = page(owner, tenant, todo)
    assert ('value="approve"' in text, "It runs once a second person approves it." in text) == (True, False)
    assert "One approval is enough now." in text
    assert [words for words in ("Needs a second approval", "Needs a second approval.") if words in text] == []
    owner.post(url_of(tenant, todo), {"do": "approve", **seen(tenant, todo)})
    assert state(tenant, todo) == TodoStatus.APPROVED


def test_members_who_cannot_approve_see_who_can(owner: Client, tenant: Tenant, make: Make) -> None:
    with tenant.tx():
        kind = types.save_type(
            tenant.project, {"name": "Big", "description": "x", "tools": [MAIL], "approver_role": Role.ADMIN}
        )
        operator = User.objects.create_user("op@nello.example", "correct horse battery")
        Member.objects.create(user=operator, role=Role.OPERATOR)
    todo = make(type=kind)
    theirs = browser(operator)
    text = page(theirs, tenant, todo)
    assert "Needs approval by an admin or owner" in text
    assert 'value="approve"' not in text
    response = theirs.post(url_of(tenant, todo), {"do": "approve", **seen(tenant, todo)}, follow=True)
    assert "at least an admin" in response.content.decode()
    assert state(tenant, todo) == TodoStatus.PENDING_REVIEW


def test_a_viewer_sees_everything_but_no_actions(tenant: Tenant, make: Make) -> None:
    with tenant.tx():
        viewer = User.objects.create_user("eye@nello.example", "correct horse battery")
        Member.objects.create(user=viewer, role=Role.VIEWER)
    text = page(browser(viewer), tenant, make())
    assert "marta@example.com" in text
    assert 'value="approve"' not in text


def test_a_todo_with_a_removed_tool_cannot_be_approved(owner: Client, tenant: Tenant, make: Make) -> None:
    todo = make()
    with tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(tool="vanished_tool")
    text = page(owner, tenant, todo)
    assert "Tool Vanished no longer exists." in text
    assert 'value="approve"' not in text


def test_a_todo_without_tools_is_taken_and_marked_as_done(owner: Client, tenant: Tenant, make: Make) -> None:
    """By whom, and how it went; the main button says what to do where nothing can be run."""
    todo = make(tool="", arguments=None)
    main = page(owner, tenant, todo).partition('class="btn btn-primary"')[2].partition("</button>")[0]
    assert "Assign to me" in main
    text = owner.post(url_of(tenant, todo), {"do": "take", **seen(tenant, todo)}, follow=True).content.decode()
    assert "Assigned to owner" in column(text, "motion")
    refused = owner.post(url_of(tenant, todo), {"do": "fail", "reason": " "}, follow=True).content.decode()
    assert "Enter a reason." in refused
    done = owner.post(url_of(tenant, todo), {"do": "complete", "reason": "She has it."}, follow=True).content.decode()
    assert state(tenant, todo) == TodoStatus.COMPLETED
    assert "Done by hand" in done
    assert "She has it." in done


def test_a_todo_returned_to_review_is_not_shown_as_edited(owner: Client, tenant: Tenant, make: Make) -> None:
    """The reason stands there."""
    todo = make()
    approve(tenant, todo)
    with tenant.tx():
        services.return_to_review(
            Todo.objects.get(pk=todo.pk), reason="Ada may no longer approve this.", actor=Actor("Ada")
        )
    text = page(owner, tenant, todo)
    assert "Returned to review." in text
    assert "Ada may no longer approve this." in text
    assert "Edited since" not in text
    assert "Back in review" in column(text, "review")
    with tenant.tx():
        services.edit_todo(todo.pk, {"description": "Send Marta the menu"}, actor=Actor("Ada"), version=None)
    assert "Edited since it was approved." in page(owner, tenant, todo)


@pytest.mark.requirement("L11")
def test_a_requested_recipient_is_added_with_one_click(owner: Client, tenant: Tenant, make: Make) -> None:
    """This makes a new version, which has to be approved."""
    with tenant.tx():
        fields = {"name": "Letter", "description": "x", "tools": ["send_email"], "recipients": ["crew@nello.example"]}
        kind = types.save_type(tenant.project, fields)
    todo = make(type=kind, tool="", arguments=None)
    step = run(tenant, todo, "Error: nobody has approved chef@nello.example.", is_error=True)
    with tenant.tx():
        wanted = {"name": "send_email", "arguments": {**LETTER, "to": "chef@nello.example"}}
        TodoCall.objects.filter(step=step).update(**wanted)
        services.return_to_review(
            Todo.objects.get(pk=todo.pk), reason="chef@nello.example isn't approved.", actor=Actor("Ada")
        )
    text = page(owner, tenant, todo)
    assert "The agent tried to write to" in text
    assert 'name="address" value="chef@nello.example"' in text
    owner.post(url_of(tenant, todo), {"do": "add_recipient", "version": 2, "address": "chef@nello.example"})
    with tenant.tx():
        row = Todo.objects.get(pk=todo.pk)
    assert (row.version, row.status) == (3, TodoStatus.PENDING_REVIEW)
    assert row.recipients == ["crew@nello.example", "chef@nello.example"]
    assert "The agent tried to write to" not in page(owner, tenant, todo)


@pytest.mark.requirement("L11")
def test_requested_recipients_are_those_of_the_last_run(owner: Client, tenant: Tenant, make: Make) -> None:
    """Requests of earlier runs were reviewed when the todo returned."""
    with tenant.tx():
        fields = {"name": "Letter", "description": "x", "tools": ["send_email"], "recipients": ["crew@nello.example"]}
        kind = types.save_type(tenant.project, fields)
    todo = make(type=kind, tool="", arguments=None)
    for address in ("chef@nello.example", "bar@nello.example"):
        step = run(tenant, todo, "Error: nobody has approved it.", is_error=True)
        with tenant.tx():
            wanted = {"name": "send_email", "arguments": {**LETTER, "to": address}}
            TodoCall.objects.filter(step=step).update(**wanted)
            services.return_to_review(
                Todo.objects.get(pk=todo.pk), reason=f"{address} isn't approved.", actor=Actor("Ada")
            )
    text = page(owner, tenant, todo)
    assert ['value="chef@nello.example"' in text, 'value="bar@nello.example"' in text] == [False, True]


@pytest.mark.requirement("L11")
def test_a_todo_without_recipients_links_to_the_field(owner: Client, tenant: Tenant, make: Make) -> None:
    """The way out is not a button that does nothing."""
    with tenant.tx():
        kind = types.save_type(tenant.project, {"name": "Letter", "description": "A letter", "tools": ["send_email"]})
    todo = make(type=kind, tool="", arguments=None)
    address = reverse("edit_todo", args=[tenant.project.slug, todo.pk])
    assert f'class="btn btn-primary" href="{address}#recipients"' in page(owner, tenant, todo)


def test_a_failed_todo_shows_in_the_sidebar_and_on_the_dashboard(owner: Client, tenant: Tenant, make: Make) -> None:
    """In words too, for whoever doesn't see its colour."""
    make()
    put(tenant, make("Write to the crew"), TodoStatus.FAILED)
    text = owner.get(reverse("dashboard", args=[tenant.project.slug])).content.decode()
    assert 'mg-n-bad" title="Need attention: 2; Failed in the last 7 days: 1">2<' in text
    assert "Todo failed: Write to the crew" in text


def test_a_conversation_lists_its_todos(owner: Client, tenant: Tenant, make: Make) -> None:
    row = talk(tenant, "Could you e-mail me the list?")
    todo = make("Send the list", conversation_id=row.pk)
    make("Of another conversation")
    text = owner.get(reverse("conversation", args=[tenant.project.slug, row.pk])).content.decode()
    assert f'<a href="{url_of(tenant, todo)}"' in text
    assert "Of another conversation" not in text


def test_the_administration_cancels_open_todos(owner: Client, tenant: Tenant, make: Make) -> None:
    """One that is over holds up none of the others."""
    open_one, over = make(), make()
    put(tenant, over, TodoStatus.COMPLETED)
    form = {"action": "cancel", "_selected_action": [str(open_one.pk), str(over.pk)]}
    text = owner.post(reverse("admin:todos_todo_changelist"), form, follow=True).content.decode()
    assert ("1 of 2 todos canceled." in text, "1 refused: This todo is completed" in text) == (True, True)
    assert [state(tenant, one) for one in (open_one, over)] == ["cancelled", "completed"]
    with tenant.tx():
        event = open_one.history.get(what="cancelled")
        assert (event.actor, Todo.objects.get(pk=open_one.pk).reason) == (
            tenant.owner.name,
            "Cancelled in the admin.",
        )


# The run


def run(tenant: Tenant, todo: Todo, *results: str, is_error: bool = False, **step: Any) -> TodoStep:
    """Steps of the executor, each with one call that came back with a result; an empty one has not come back."""
    approval = approve(tenant, todo)
    with tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(status=TodoStatus.IN_PROGRESS)
        for number, result in enumerate(results, 1):
            ended = timezone.now() if result else None
            row = TodoStep.objects.create(
                todo=todo,
                approval=approval,
                number=number,
                **{"model": "gpt-5", "cost": "0.0021", "started_at": timezone.now(), "finished_at": ended, **step},
            )
            TodoCall.objects.create(
                step=row,
                index=0,
                call_id="c",
                name=MAIL,
                arguments_text="{}",
                arguments=LETTER,
                result=result,
                is_error=is_error,
                finished_at=ended,
            )
        return row


@pytest.mark.requirement("L14")
def test_steps_show_calls_results_and_cost(owner: Client, tenant: Tenant, make: Make) -> None:
    """Of ten steps two are used; what the agent decided and what came back is there to be read."""
    todo = make()
    run(tenant, todo, "Sent to marta@example.com.", "")
    text = page(owner, tenant, todo)
    for words in ("2 of 10 steps, $0.0042", "Sent to marta@example.com.", "waiting for a result", 'data-step="2"'):
        assert words in text
    assert "step 2 of 10" in column(text, "motion")


def test_a_result_that_is_json_is_shown_in_fields_and_as_it_came(owner: Client, tenant: Tenant, make: Make) -> None:
    todo, document = make(), '{"ticket_number": 42, "open": true, "owner": {"name": "Lucia"}, "lines": [{"sku": "A"}]}'
    run(tenant, todo, document)
    step = page(owner, tenant, todo).partition('data-step="1"')[2].partition("</li>")[0]
    summary, _, rest = step.partition("</summary>")
    assert ("Ticket number: 42, Open: yes" in summary, "{" in summary) == (True, False)
    for label, value in (("Ticket number", "42"), ("Open", "yes"), ("Owner › Name", "Lucia"), ("Lines › 1 › Sku", "A")):
        assert re.search(rf"<dt>{label}</dt><dd[^>]*>{value}</dd>", rest)
    assert escape(document) in rest


@pytest.mark.requirement("L19")
def test_a_tool_error_is_shown_in_its_step(owner: Client, tenant: Tenant, make: Make) -> None:
    todo = make()
    run(tenant, todo, "The customer has no e-mail address.", is_error=True)
    step = page(owner, tenant, todo).partition('data-step="1"')[2].partition("</li>")[0]
    assert 'data-s="warn"' in step
    assert "The customer has no e-mail address." in step


def test_a_message_in_the_outbox_is_described_for_people(owner: Client, tenant: Tenant, make: Make) -> None:
    """Not by the result, which tells the model what not to say."""
    todo = make()
    step = run(tenant, todo, "Test mode: nothing has left. Do not say that it was sent.")
    effect = add_effect(tenant, talk(tenant, "Hi"), tool=MAIL, kind="email", adapter="outbox")
    with tenant.tx():
        TodoCall.objects.filter(step=step).update(effect=effect)
    shown = page(owner, tenant, todo).partition('data-step="1"')[2].partition("</li>")[0]
    assert ('data-s="warn"' in shown, "stayed in the outbox" in shown, "Do not say" in shown) == (True, True, False)


def test_an_unknown_outcome_can_be_answered_or_repeated(owner: Client, tenant: Tenant, make: Make) -> None:
    todo = make()
    step = run(tenant, todo, "Whether it happened isn't known.", is_error=True)
    effect = add_effect(tenant, talk(tenant, "Hi"), state=EffectState.UNKNOWN, tool=MAIL, kind="email")
    with tenant.tx():
        TodoCall.objects.filter(step=step).update(effect=effect)
    put(tenant, todo, TodoStatus.NEEDS_ATTENTION, reason="Whether the e-mail left isn’t known.")
    text = page(owner, tenant, todo)
    assert "Did this happen?" in text
    assert "Whether the e-mail left isn’t known." in text
    assert f'name="repeat" value="{effect.pk}"' in text
    owner.post(url_of(tenant, todo), {"do": "review_again", "repeat": str(effect.pk)})
    assert "<dt>Repeat</dt>" in page(owner, tenant, todo)
    assert state(tenant, todo) == TodoStatus.PENDING_REVIEW


def test_reasons_name_tools_by_title_on_pages_and_by_name_in_the_api(
    owner: Client, api: Client, tenant: Tenant, make: Make
) -> None:
    """On its card, in the panel and in the history."""
    todo = make()
    run(tenant, todo, "Error: no.", is_error=True)
    reason = "send_email_to_caller was not done: no."
    put(tenant, todo, TodoStatus.FAILED, reason=reason)
    with tenant.tx():
        TodoEvent.objects.create(todo=todo, what="failed", to_status="failed", version=1, detail={"reason": reason})
    text = page(owner, tenant, todo)
    assert (text.count("Send e-mail to caller was not done: no."), reason in text) == (3, False)
    assert api.get(f"/api/v1/todos/{todo.pk}").json()["reason"] == reason


@pytest.mark.parametrize("status", [TodoStatus.COMPLETED, TodoStatus.CANCELLED])
def test_effects_of_a_closed_todo_are_not_sent_again(
    status: TodoStatus, owner: Client, api: Client, tenant: Tenant, make: Make
) -> None:
    """Neither what may have happened nor what was held back; who asks for it anyway is told why not."""
    todo = make()
    step = run(tenant, todo, "Whether it happened isn't known.", is_error=True)
    effect = add_effect(tenant, talk(tenant, "Hi"), state=EffectState.UNKNOWN, tool=MAIL, kind="email")
    with tenant.tx():
        TodoCall.objects.filter(step=step).update(effect=effect)
    address = reverse("effect", args=[tenant.project.slug, effect.pk])
    assert "send again" in owner.get(address).content.decode()
    put(tenant, todo, status)
    for one in (address, reverse("effects", args=[tenant.project.slug])):
        text = owner.get(one).content.decode()
        assert ("send again" in text, "Didn’t happen" in text) == (False, True)
    assert "Marked as not done." in owner.post(address, {"answer": "not"}, follow=True).content.decode()
    with tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(state=EffectState.HELD)
    text = owner.get(address).content.decode()
    why = f"Its todo {status.predicate}. Create another todo for this."
    assert ("Release and run" in text, why in text) == (False, True)
    refused = api.post(f"/api/v1/effects/{effect.pk}/release")
    assert (refused.status_code, refused.json()["error"]["message"]) == (409, why)


def test_a_planned_effect_of_unknown_outcome_cannot_be_selected(owner: Client, tenant: Tenant, make: Make) -> None:
    """As long as nobody knows whether it happened, a tick would do nothing."""
    effect = add_effect(tenant, talk(tenant, "Hi"), state=EffectState.UNKNOWN, tool=MAIL, kind="email")
    todo = make(effect=effect)
    put(tenant, todo, TodoStatus.NEEDS_ATTENTION, reason="Whether the e-mail left isn’t known.")
    text = page(owner, tenant, todo)
    assert ("Did this happen?" in text, 'name="repeat"' in text) == (True, False)


def test_failed_effects_need_no_selection_to_be_retried(owner: Client, tenant: Tenant, make: Make) -> None:
    """A tick is for what was done, and would say nothing here."""
    todo = make()
    step = run(tenant, todo, "Error: the number is dear.", is_error=True)
    effect = add_effect(tenant, talk(tenant, "Hi"), state=EffectState.FAILED, tool=MAIL, kind="email")
    with tenant.tx():
        TodoCall.objects.filter(step=step).update(effect=effect)
    put(tenant, todo, TodoStatus.FAILED, reason="The number is dear.")
    text = page(owner, tenant, todo)
    assert ('name="repeat"' in text, "Failed actions are retried" in text) == (False, True)


def test_a_todo_links_to_its_conversation_turn_and_promise(owner: Client, tenant: Tenant, make: Make) -> None:
    row = talk(tenant, "Could you e-mail me the list?", channel=Channel.PHONE)
    promise = add_promise(tenant, row, "I’ll e-mail you the list.", state=PromiseState.BROKEN)
    todo = make(conversation_id=row.pk, turn_id=promise.turn_id, promise=promise, quote=promise.quote)
    text = page(owner, tenant, todo)
    assert reverse("conversation", args=[tenant.project.slug, row.pk]) in text
    assert f"turn={promise.turn_id}" in text
    assert f"#promise-{promise.pk}" in text
    assert "“I’ll e-mail you the list.”" in text


def test_the_change_token_changes_with_every_event_and_call(owner: Client, tenant: Tenant, make: Make) -> None:
    """The page reloads its content when the token differs."""
    todo = make()
    address = reverse("todo_news", args=[tenant.project.slug]) + f"?todo={todo.pk}"
    stamps = [owner.get(address).content]
    step = run(tenant, todo, "")
    stamps.append(owner.get(address).content)
    with tenant.tx():
        TodoCall.objects.filter(step=step).update(finished_at=timezone.now(), result="Sent.")
    stamps.append(owner.get(address).content)
    assert len(set(stamps)) == 3
    assert owner.get(address).content == stamps[-1]
    assert stamps[-1].decode() in page(owner, tenant, todo)


# The list, and many at once


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", {"one", "two", "three"}),
        ("&state=failed", {"two"}),
        ("&source=api", {"three"}),
        ("&state=failed&source=api", set()),
        ("&before=y", {"one", "two", "three"}),
    ],
)
def test_filters_narrow_the_list(query: str, found: set[str], owner: Client, tenant: Tenant, make: Make) -> None:
    make("one")
    put(tenant, make("two"), TodoStatus.FAILED)
    make("three", source=TodoSource.API)
    text = page(owner, tenant, query=f"?view=list{query}")
    assert {name for name in ("one", "two", "three") if f">{name}</b>" in text.replace("\n", "")} == found


def test_a_state_that_a_todo_never_has_is_refused(owner: Client, tenant: Tenant) -> None:
    assert owner.get(f"{url_of(tenant)}?view=list&state=nonsense").status_code == 400


def test_the_next_page_continues_where_the_list_ended(owner: Client, tenant: Tenant, make: Make) -> None:
    first = make("the oldest")
    with tenant.tx():
        Todo.objects.filter(pk=first.pk).update(created_at=timezone.now() - timedelta(days=1))
        Todo.objects.bulk_create(
            Todo(project=tenant.project, description="many", source=TodoSource.API, expires_at=timezone.now())
            for _ in range(51)
        )
    response = owner.get(url_of(tenant) + "?view=list")
    assert "the oldest" not in response.content.decode()
    assert "the oldest" in owner.get(url_of(tenant) + response.context["next"]).content.decode()


def test_selected_todos_are_approved_as_they_were_shown(owner: Client, tenant: Tenant, make: Make) -> None:
    """One that changed meanwhile is left out and named; the others are approved."""
    todos = [make(f"todo {number}") for number in range(3)]
    choices = [choice(tenant, todo) for todo in todos]
    with tenant.tx():
        services.edit_todo(todos[1].pk, {"description": "something else"}, actor=Actor("Eve"), version=None)
    response = owner.post(url_of(tenant), {"choice": choices}, follow=True)
    assert [state(tenant, todo) for todo in todos] == ["approved", "pending_review", "approved"]
    text = response.content.decode()
    assert "2 todos approved." in text
    assert "1 not approved: This todo changed" in text


@pytest.mark.requirement("L10")
def test_deliverability_is_checked_for_each_customer(owner: Client, tenant: Tenant, make: Make) -> None:
    """The list caches nothing from one customer to the next."""
    with tenant.tx():
        others = [
            start_conversation(tenant.project, channel=Channel.CHAT, external_id=f"eve {n}", known={}, metadata={})
            for n in range(2)
        ]
    nobody, marta, nobody_else = [make(persona_id=one) for one in (others[0].persona_id, None, others[1].persona_id)]
    with tenant.tx():
        Todo.objects.filter(pk=marta.pk).update(persona_id=Persona.objects.get(external_id="marta").pk)
    text = page(owner, tenant, query="?view=list")
    offered = [is_approvable(tenant, todo, text) for todo in (nobody, marta, nobody_else)]
    assert offered == [False, True, False]


@pytest.mark.requirement("L10")
def test_undeliverable_messages_are_shown_before_and_after_bulk_approval(
    owner: Client, tenant: Tenant, make: Make
) -> None:
    """As for a single todo."""
    with tenant.tx():
        set_attribute(tenant.project, "project_attributes_setting_booking_enabled", True)
        fields = {"name": "Tell", "description": "x", "tools": [MAIL, "create_booking_tool"]}
        kind = types.save_type(tenant.project, fields)
    todos = [make(f"todo {number}", tool="", arguments=None, type=kind) for number in range(2)]
    with tenant.tx():
        PersonaField.objects.filter(key="email").delete()
    assert page(owner, tenant, query="?view=list").count("Its e-mail can’t be delivered.") == 2
    response = owner.post(url_of(tenant), {"choice": [choice(tenant, todo) for todo in todos]}, follow=True)
    text = response.content.decode()
    assert "2 todos approved." in text
    assert (
        "2 approved todos have undeliverable e-mails. Their other actions still run. The customer has no e-mail" in text
    )


@pytest.mark.parametrize("is_elsewhere", [False, True], ids=["by the customer", "by somebody with the address"])
def test_a_refused_e_mail_cannot_be_approved_from_the_list(
    owner: Client, tenant: Tenant, make: Make, is_elsewhere: bool
) -> None:
    todo = make()
    assert is_approvable(tenant, todo, page(owner, tenant, query="?view=list"))
    with tenant.tx():
        email = PersonaField.objects.get(persona_id=todo.persona_id, key="email").value
        other = start_conversation(
            tenant.project, channel=Channel.CHAT, external_id="eve", known={"email": email}, metadata={}
        )
        refusing = other.persona if is_elsewhere else Persona.objects.get(pk=todo.persona_id)
        give_fields(refusing, {"email_opt_in": "false"})
    assert not is_approvable(tenant, todo, page(owner, tenant, query="?view=list"))


def test_more_than_twenty_approvals_need_confirmation(owner: Client, tenant: Tenant, make: Make) -> None:
    """The password is asked for too: a stolen session alone approves no flood."""
    todos = [make(f"todo {number}") for number in range(21)]
    choices = [choice(tenant, todo) for todo in todos]
    response = owner.post(url_of(tenant), {"choice": choices})
    text = response.content.decode()
    assert response.status_code == 409
    assert "Approve 21 todos?" in text
    assert all(f'value="{one}"' in text for one in choices)
    assert state(tenant, todos[0]) == TodoStatus.PENDING_REVIEW
    asked = owner.post(url_of(tenant), {"choice": choices, "confirmed": "yes"})
    assert state(tenant, todos[0]) == TodoStatus.PENDING_REVIEW
    owner.post(asked.headers["Location"], {"password": PASSWORD})
    assert {state(tenant, todo) for todo in todos} == {TodoStatus.APPROVED}


def test_selected_todos_are_rejected_with_a_reason(owner: Client, tenant: Tenant, make: Make) -> None:
    """One that changed meanwhile is left out and named."""
    todos = [make(f"todo {number}", tool="", arguments=None) for number in range(3)]
    choices = [choice(tenant, todo) for todo in todos]
    with tenant.tx():
        services.edit_todo(todos[1].pk, {"description": "something else"}, actor=Actor("Eve"), version=None)
    body = {"do": "reject", "choice": choices, "reason": "Spam."}
    text = owner.post(url_of(tenant), body, follow=True).content.decode()
    assert [state(tenant, todo) for todo in todos] == ["rejected", "pending_review", "rejected"]
    assert ("2 todos rejected." in text, "1 not rejected: This todo changed" in text) == (True, True)
    with tenant.tx():
        assert Todo.objects.get(pk=todos[0].pk).reason == "Spam."


def test_the_task_is_shown_apart_from_a_short_title(owner: Client, tenant: Tenant, make: Make) -> None:
    task = "Call Anna back about the allergy, before six, on +39 347 555 0142. " * 3
    todo = make(task, title="Call Anna back")
    text = page(owner, tenant, todo)
    assert re.search(r'<h2 id="panel-title"[^>]*>Call Anna back</h2>', text)
    assert ("<dt>Task</dt>" in text, "Approve version" in text) == (True, False)


def test_arguments_and_tools_are_shown_by_their_labels(owner: Client, tenant: Tenant, make: Make) -> None:
    text = page(owner, tenant, make())
    assert ("Send e-mail to caller, version" in text, "send_email_to_caller" in text) == (True, False)


# Forms


def test_a_person_creates_a_todo_with_a_tool_and_arguments(owner: Client, tenant: Tenant, make: Make) -> None:
    persona = make().persona_id
    form = {"description": "Write to Marta", "tool": MAIL, "persona": str(persona), "arguments.subject": "Hello"}
    response = owner.post(reverse("new_todo", args=[tenant.project.slug]), {**form, "arguments.body": "Dear Marta."})
    with tenant.tx():
        made = Todo.objects.get(description="Write to Marta")
    assert response.headers["Location"] == url_of(tenant, made)
    assert made.arguments == {"subject": "Hello", "body": "Dear Marta."}
    assert (made.persona_id, made.source, made.status) == (persona, TodoSource.PERSON, TodoStatus.PENDING_REVIEW)


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"description": ""}, "Enter a description."),
        ({"description": "x" * 8_001}, "Use at most 8,000 characters. This has 8,001."),
        ({"description": "x", "recipients": "nobody"}, "is not an e-mail address"),
        ({"description": "x", "tool": "no_such_tool"}, "There is no tool"),
        ({"description": "x", "tool": MAIL}, "arguments"),
    ],
)
def test_errors_in_a_new_todo_are_shown_in_the_form(
    form: dict[str, str], sentence: str, owner: Client, tenant: Tenant
) -> None:
    response = owner.post(reverse("new_todo", args=[tenant.project.slug]), form)
    assert response.status_code == 422
    assert sentence in response.content.decode()
    with tenant.tx():
        assert not Todo.objects.exists()


def test_concurrent_edits_show_their_differences(owner: Client, tenant: Tenant, make: Make) -> None:
    todo = make()
    with tenant.tx():
        services.edit_todo(todo.pk, {"description": "Send Marta the menu"}, actor=Actor("Eve"), version=1)
    form = {"description": "Send Marta flowers", "tool": MAIL, **{f"arguments.{k}": v for k, v in LETTER.items()}}
    response = owner.post(url_of(tenant, todo, "edit_todo"), {**form, "version": 1})
    text = response.content.decode()
    assert response.status_code == 422
    assert "Someone else edited this todo." in text
    assert "Send Marta flowers" in text
    assert '<input type="hidden" name="version" value="2">' in text


def test_a_started_planned_effect_explains_why_it_cannot_change(owner: Client, tenant: Tenant, make: Make) -> None:
    """Its words can still be changed, though the form has nothing of its arguments."""
    effect = add_effect(
        tenant, talk(tenant, "Hi"), state=EffectState.UNKNOWN, tool=MAIL, kind="email", arguments=LETTER
    )
    address = url_of(tenant, todo := make(effect=effect), "edit_todo")
    panel = page(owner, tenant, todo)
    assert ["Did this happen?" in panel, 'value="approve"' in panel, "send again" in panel] == [True, False, False]
    text = owner.get(address).content.decode()
    assert "We don&#x27;t know whether Send e-mail to caller went through with these arguments" in text
    assert (LETTER["subject"] in text, 'name="arguments.' in text) == (True, False)
    form = {"description": "Send Marta the menu", "tool": MAIL, "version": 1}
    assert owner.post(address, form).status_code == 302
    with tenant.tx():
        todo.refresh_from_db()
    assert (todo.description, todo.arguments) == ("Send Marta the menu", LETTER)


def test_an_effect_that_happened_is_not_announced_as_sent(owner: Client, tenant: Tenant, make: Make) -> None:
    """Somebody has said so while it waited for a second yes."""
    todo = make(effect=add_effect(tenant, talk(tenant, "Hi"), tool=MAIL, kind="email", arguments=LETTER))
    text = page(owner, tenant, todo)
    assert ["Already done." in text, "This will be sent" in text] == [True, False]


# Standing rules


def rule_form(**changes: str) -> dict[str, str]:
    return {"kind.text": "anything", "most_per_day": "5", "do": "make", **changes}


def test_a_rule_is_previewed_before_it_is_created(owner: Client, tenant: Tenant, make: Make) -> None:
    make("text one", tool=SMS, arguments={"text": "Via Dante 12."})
    todo = make("text two", tool=SMS, arguments={"text": "Via Dante 14."})
    address = url_of(tenant, todo, "allow_todo")
    exactly = owner.get(address).content.decode()
    assert "1 of 2 todos with this tool in the last 30 days" in exactly
    response = owner.post(address, rule_form())
    assert "2 of 2 todos with this tool" in response.content.decode()
    with tenant.tx():
        assert not StandingRule.objects.exists()
    owner.post(address, rule_form(seen=response.context["fingerprint"]))
    with tenant.tx():
        rule = StandingRule.objects.get()
    assert (rule.tool, rule.allowed, rule.most_per_day) == (SMS, {"text": {"anything": True}}, 5)


def test_a_rule_ends_in_the_settings(owner: Client, tenant: Tenant, make: Make) -> None:
    todo = make(tool=SMS, arguments={"text": "Via Dante 12."})
    address = url_of(tenant, todo, "allow_todo")
    owner.post(address, {**rule_form(seen=owner.post(address, rule_form()).context["fingerprint"])})
    settings = reverse("agent", kwargs={"project_slug": tenant.project.slug, "section": "todos"})
    assert "at most 5" in owner.get(settings).content.decode()
    with tenant.tx():
        rule = StandingRule.objects.get()
    owner.post(settings, {"do": "end", "id": str(rule.pk)})
    with tenant.tx():
        rule.refresh_from_db()
    assert rule.ended_at is not None


def test_a_rule_ends_on_the_page_of_a_todo_that_it_approved(owner: Client, tenant: Tenant, make: Make) -> None:
    todo = make(tool=SMS, arguments={"text": "Via Dante 12."})
    address = url_of(tenant, todo, "allow_todo")
    owner.post(address, {**rule_form(seen=owner.post(address, rule_form()).context["fingerprint"])})
    passed = make(tool=SMS, arguments={"text": "Via Dante 14."})
    with tenant.tx():
        rule = StandingRule.objects.get()
    assert f'name="rule" value="{rule.pk}"' in page(owner, tenant, passed)
    clerk = browser(member_of(tenant, Role.OPERATOR))
    assert (reverse("allow_todo", args=[tenant.project.slug, passed.pk])) not in page(clerk, tenant, passed)
    clerk.post(url_of(tenant, passed), {"do": "end_rule", "rule": str(rule.pk)})
    with tenant.tx():
        assert StandingRule.objects.get().ended_at is None
    assert owner.post(url_of(tenant, todo), {"do": "end_rule", "rule": str(rule.pk)}).status_code == 404
    owner.post(url_of(tenant, passed), {"do": "end_rule", "rule": str(rule.pk)})
    with tenant.tx():
        rule.refresh_from_db()
    assert rule.ended_at is not None
    assert 'value="end_rule"' not in page(owner, tenant, passed)


# Types


def type_form(**changes: Any) -> dict[str, Any]:
    return {
        "do": "save",
        "name": "Letter",
        "description": "A letter is promised.",
        "tools": [MAIL],
        "approver_role": "operator",
        "second_approver": "above",
        "limit_argument": "amount",
        "limit_value": "99,5",
        "expires_after_hours": "48",
        "is_extracted": "yes",
        **changes,
    }


def settings_of(tenant: Tenant) -> str:
    return reverse("agent", kwargs={"project_slug": tenant.project.slug, "section": "todos"})


@pytest.mark.requirement("L09")
def test_a_type_is_created_changed_and_removed_in_the_settings(owner: Client, tenant: Tenant) -> None:
    owner.post(settings_of(tenant), type_form(recipients="crew@nello.example\r\nboss@nello.example"))
    with tenant.tx():
        kind = TodoType.objects.get(name="Letter")
    assert kind.recipients == ["crew@nello.example", "boss@nello.example"]
    assert (kind.tools, str(kind.limit_value), kind.expires_after_hours) == ([MAIL], "99.50", 48)
    owner.post(settings_of(tenant), type_form(id=str(kind.pk), name="E-mail", is_extracted=""))
    with tenant.tx():
        kind.refresh_from_db()
    assert (kind.name, kind.is_extracted) == ("E-mail", False)
    owner.post(settings_of(tenant), {"do": "remove", "id": str(kind.pk)})
    with tenant.tx():
        kind.refresh_from_db()
    assert kind.is_removed


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": ""}, "name is empty."),
        ({"recipients": "crew"}, "is not an e-mail address"),
        ({"tools": ["send_emial_to_caller"]}, "Did you mean send_email_to_caller?"),
        ({"expires_after_hours": "soon"}, "expires_after_hours must be between"),
        ({"limit_value": "much"}, "limit_value must be a number"),
    ],
)
def test_errors_in_a_type_are_shown_in_its_form(
    changes: dict[str, Any], sentence: str, owner: Client, tenant: Tenant
) -> None:
    response = owner.post(settings_of(tenant), type_form(**changes))
    assert response.status_code == 422
    assert sentence in response.content.decode()
    with tenant.tx():
        assert not TodoType.objects.filter(description=type_form()["description"]).exists()


def test_a_type_names_its_removed_tools(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        TodoType.objects.create(project=tenant.project, name="Old", description="x", tools=["gone_tool"])
    assert "Tool gone_tool no longer exists." in owner.get(settings_of(tenant)).content.decode()


def test_a_rule_is_suggested_after_many_unchanged_approvals(owner: Client, tenant: Tenant, make: Make) -> None:
    newest: UUID | None = None
    for _ in range(10):
        todo = make(tool=SMS, arguments={"text": "Via Dante 12."})
        approve(tenant, todo)
        newest = todo.pk
    text = page(owner, tenant)
    assert "You approved 10 “Send SMS” todos without changes." in text
    assert reverse("allow_todo", args=[tenant.project.slug, newest]) in text
