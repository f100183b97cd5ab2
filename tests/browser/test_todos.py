"""From what the agent said to an e-mail that a person approved: the board of todos in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from conversations.models import Channel
from conversations.turns.services import start_conversation
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source
from tests.browser.conftest import App, open_page, settle
from tests.browser.talk import converse
from tests.tools.messaging.mail_server import MailServer
from todos.content.lifecycle import Actor
from todos.content.types import save_type
from todos.models import Todo, TodoSource, TodoType
from todos.services import cancel_todo, edit_todo, make_todo

pytestmark = pytest.mark.browser

TOOL = "send_email_to_caller"
PROMISE = "The chef writes it down, and I'll e-mail you the allergen list tomorrow morning."
MARTA = {"name": "Marta Riva", "email": "marta@example.com"}


@pytest.fixture
def mail(settings: Any) -> Iterator[MailServer]:
    """A real mail server on this machine, which the operator lets through."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with MailServer() as server:
        yield server


def connect(app: App, mail: MailServer) -> None:
    """The tenant's e-mails go out by this server."""
    document = {"host": "127.0.0.1", "port": mail.port, "security": "none", "from_address": "hello@nello.example"}
    with app.tenant.tx():
        connect_source(app.tenant.project, KINDS["smtp"], SourceEdit(document, ""), by=app.tenant.owner)


def give_type(app: App) -> None:
    """The one type of todo: an e-mail to whoever was promised one."""
    fields = {"name": "E-mail to the guest", "description": "An e-mail that the guest was promised.", "tools": [TOOL]}
    with app.tenant.tx():
        TodoType.objects.filter(project=app.tenant.project).update(is_removed=True)
        save_type(app.tenant.project, fields)


def make(app: App, **details: Any) -> Todo:
    """A todo about Marta, whose address is known."""
    with app.tenant.tx():
        marta = start_conversation(
            app.tenant.project, channel=Channel.CHAT, external_id="marta", known=MARTA, metadata={}
        )
        standard = {"source": TodoSource.API, "actor": Actor("API"), "persona_id": marta.persona_id}
        return make_todo(app.tenant.project, description="Send Marta the menu", **{**standard, **details})


@pytest.mark.requirement("L10", "L13")
def test_a_promised_email_is_approved_and_sent_exactly_once(page: Page, app: App, mail: MailServer) -> None:
    """Found when the conversation ends, approved with one key, sent by the real server once."""
    connect(app, mail)
    give_type(app)
    app.model.script("reply", text=PROMISE)
    converse(app, "Could you send me the allergen list?", "Thank you, goodbye", **MARTA)
    open_page(page, app, "todos")
    card = page.locator("#column-review [data-row]")
    expect(card).to_contain_text(MARTA["email"])
    expect(page.get_by_role("link", name="Todos")).to_contain_text("1")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    panel = page.locator("#panel")
    expect(panel).to_contain_text("I'll e-mail you the allergen list tomorrow morning")
    expect(panel.locator(".td-mail")).to_contain_text("contact details")
    page.keyboard.press("a")
    expect(panel.locator("header .mg-st")).to_have_text("Completed")
    expect(panel.locator("[data-step='1']")).to_contain_text("Send e-mail to caller")
    expect(page.locator(".td-rail")).to_contain_text("1")
    settle()
    [letter] = mail.post.messages
    assert letter.recipients == [MARTA["email"]]


def test_a_todo_that_changes_while_being_read_is_not_approved(page: Page, app: App) -> None:
    """The newer version is offered, not put in the place of the one that is being read."""
    todo = make(app, tool=TOOL, arguments={"subject": "The menu", "body": "Dear Marta."})
    open_page(page, app, f"todos/{todo.pk}")
    with app.tenant.tx():
        edit_todo(todo.pk, {"arguments": {"subject": "The menu", "body": "Dear Eve."}}, actor=Actor("Eve"), version=1)
    expect(page.get_by_text("This todo changed while you were reading it.")).to_be_visible()
    expect(page.get_by_role("button", name="Approve “Send Marta the menu”")).to_be_disabled()
    page.get_by_role("button", name="Show new version").click()
    expect(page.get_by_role("button", name="Approve version 2")).to_be_enabled()
    expect(page.locator(".td-mail ins")).to_have_text("Eve")


def test_a_person_takes_a_todo_and_marks_it_as_done(page: Page, app: App) -> None:
    """By keyboard and a dialog; the next who looks sees who has it, and then what came of it."""
    todo = make(app)
    open_page(page, app, f"todos/{todo.pk}")
    page.keyboard.press("t")
    panel = page.locator("#panel")
    expect(panel).to_contain_text("owner is doing this by hand.")
    page.get_by_role("button", name="Mark as done").click()
    page.get_by_label("Note").fill("She picked it up herself.")
    page.keyboard.press("Enter")
    expect(panel.locator("header .mg-st")).to_have_text("Completed")
    expect(panel).to_contain_text("She picked it up herself.")
    expect(page.locator("#toasts")).to_contain_text("Marked as done.")
    expect(page.locator("#toasts")).not_to_contain_text("can’t be reached")


def test_a_rejection_by_key_asks_for_its_reason_and_is_undone_in_its_notice(page: Page, app: App) -> None:
    make(app)
    open_page(page, app, "todos")
    page.keyboard.press("j")
    page.keyboard.press("r")
    expect(page.get_by_label("Reason")).to_be_focused()
    page.get_by_role("button", name="Reject", exact=True).last.click()
    notice = page.locator("#toasts .sh-toast")
    expect(notice).to_contain_text("Rejected.")
    notice.get_by_role("button", name="Undo").click()
    expect(page.locator("#panel header .mg-st")).to_have_text("To review")


def test_selected_todos_are_rejected_with_a_reason_and_returned_at_once(page: Page, app: App) -> None:
    first, second, other = make(app), make(app), make(app)
    open_page(page, app, "todos?view=list&state=pending_review")
    for todo in (first, second):
        page.locator(f'[name=choice][value^="{todo.pk}"]').check()
    page.get_by_role("button", name="Reject selected 2").click()
    page.get_by_label("Reason").fill("Marta called already.")
    page.keyboard.press("Enter")
    expect(page.locator("[data-row]")).to_have_count(1)
    with app.tenant.tx():
        states = dict(Todo.objects.values_list("pk", "status"))
        reasons = set(Todo.objects.exclude(pk=other.pk).values_list("reason", flat=True))
    assert [states[todo.pk] for todo in (first, second, other)] == ["rejected", "rejected", "pending_review"]
    assert reasons == {"Marta called already."}
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-row]")).to_have_count(3)


def test_a_failure_looks_like_one_and_can_be_dismissed(page: Page, app: App) -> None:
    todo = make(app)
    open_page(page, app, f"todos/{todo.pk}")
    expect(page.locator("#todos[data-ready]")).to_be_visible()
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('Failed to fetch')); }")
    page.keyboard.press("a")
    failure = page.get_by_role("alert").filter(has_text="The server can’t be reached.")
    expect(failure).to_have_attribute("data-s", "bad")
    failure.get_by_role("button", name="Dismiss").click()
    expect(failure).to_have_count(0)


def test_the_list_updates_live_and_keeps_the_selection(page: Page, app: App) -> None:
    """A tick is for what was seen; what changed has to be ticked again."""
    letter = {"tool": TOOL, "arguments": {"subject": "The menu", "body": "Dear Marta."}}
    first, second = make(app, **letter), make(app, **letter)
    open_page(page, app, "todos?view=list")
    boxes = page.locator("[name=choice]")
    expect(boxes).to_have_count(2)
    for box in boxes.all():
        box.check()
    third = make(app, **letter)
    expect(boxes).to_have_count(3)
    expect(page.get_by_role("button", name="Approve selected 2")).to_be_enabled()
    with app.tenant.tx():
        edit_todo(first.pk, {"description": "Send Eve the menu"}, actor=Actor("Eve"), version=1)
    expect(page.get_by_text("1 selected todo changed")).to_be_visible()
    expect(page.locator("[name=choice]:checked")).to_have_value(re.compile(f"^{second.pk}:1:"))
    expect(page.locator(f'[name=choice][value^="{third.pk}"]')).not_to_be_checked()


def test_a_conversation_shows_its_todos(page: Page, app: App) -> None:
    """The inspector and the playground list them without a reload."""
    conversation = converse(app, "Could you send me the menu?", **MARTA)
    open_page(page, app, f"conversations/{conversation}")
    expect(page.locator("#todos")).to_contain_text("No todos.")
    todo = make(app, conversation_id=conversation)
    link = page.get_by_role("link", name="Send Marta the menu")
    expect(link).to_have_attribute("href", re.compile(f"/todos/{todo.pk}$"))
    open_page(page, app, f"playground?conversation={conversation}")
    expect(link).to_contain_text("To review")
    with app.tenant.tx():
        cancel_todo(todo.pk, actor=Actor("API"))
    expect(link).to_contain_text("Canceled")
