"""A person in the conversation: asked for, taken over with a key, answered, and handed back, in a real browser."""

from __future__ import annotations

import json
import re
import urllib.request
from uuid import UUID

import pytest
from playwright.sync_api import Page, Route, expect

from conversations.handover.assignment import assign
from conversations.handover.operators import hand_back, take_over
from conversations.handover.requests import request_person
from conversations.models import Conversation, Message, MessageRole
from projects.models import Project, Role
from tests.browser.axe import findings
from tests.browser.conftest import App, Complaints, open_page, settle
from tests.browser.talk import converse
from tests.conftest import member_of
from tests.console.pages.conftest import talk
from tests.processes import until
from tools.models import Escalation, Ticket

pytestmark = pytest.mark.browser

PRESS_TWICE = """
  new Promise((pressed) => {
    const button = document.querySelector(".dk-new footer button");
    button.click();
    setTimeout(() => { button.click(); pressed(); }, 300);
  })
"""
JONAS = {"name": "Jonas Weber", "email": "jonas@weber.example"}


def ask_for_a_person(app: App) -> str:
    """Jonas presses the button that the agent showed him. Gives the conversation's id."""
    reason = {"reason": "The wedding of the 12th of June, 60 guests."}
    asked = "I would rather talk to a person about the wedding."
    reply = "A colleague can take over with the button below."
    app.model.script_tool("escalate_to_human", reason, asked=asked, told="asked to take over", reply=reply)
    conversation_id = converse(app, asked, **JONAS)
    with app.tenant.tx():
        escalation = Escalation.objects.get(conversation_id=conversation_id)
        request_person(
            Conversation.objects.get(pk=conversation_id),
            escalation.pk,
            {"phone": "+39 347 123 4567", "note": "After six"},
        )
    return conversation_id


def messages(app: App, conversation_id: str) -> list[str]:
    request = urllib.request.Request(
        f"{app.base_url}/api/v1/conversations/{conversation_id}/messages", headers=app.tenant.headers
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return [f"{row['role']}: {row['content']}" for row in json.load(answer)["results"]]


def test_keyboard_shortcuts_are_listed_and_can_be_turned_off(page: Page, app: App) -> None:
    """WCAG 2.1.4: on every page that has some, and by the menu where “?” is switched off with the others."""
    ask_for_a_person(app)
    for path in ("inbox?view=tickets", "todos", "tools", "playground", "knowledge/new", "agent/hours"):
        open_page(page, app, path)
        expect(page.locator("[data-keys-open]:not([hidden])")).to_have_count(1)
    open_page(page, app, "inbox")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(keys).to_contain_text("Search")
    keys.get_by_label("Use single-key shortcuts").uncheck()
    keys.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    expect(page.locator("[data-row]")).not_to_be_focused()
    page.keyboard.press("?")
    expect(keys).to_be_hidden()
    page.get_by_role("button", name="account menu").click()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    keys.get_by_label("Use single-key shortcuts").check()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("[data-row]")).to_be_focused()


def test_keys_act_on_the_row_that_a_conversation_was_left_for(page: Page, app: App) -> None:
    ask_for_a_person(app)
    open_page(page, app, "inbox")
    row = page.locator("[data-row]")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#take")).to_contain_text("Jonas Weber")
    page.keyboard.press("Escape")
    expect(row).to_be_focused()
    page.keyboard.press("e")
    expect(page.locator("#toasts")).to_contain_text("1 conversation closed.")


@pytest.mark.requirement("W03")
def test_an_operator_takes_over_answers_and_hands_back(page: Page, app: App) -> None:
    """All of it by keyboard, without leaving the page, while the customer writes."""
    conversation_id = ask_for_a_person(app)
    open_page(page, app, "inbox")
    row = page.locator("[data-row]")
    expect(row).to_contain_text("Asked for a person")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    take = page.locator("#take")
    expect(take).to_contain_text("Jonas Weber asked for a person")
    expect(take).to_contain_text("After six")
    expect(page.locator("#chat")).to_contain_text("I would rather talk to a person")
    page.keyboard.press("t")
    expect(take).to_contain_text("You’re talking to Jonas Weber")
    answer = page.get_by_label("Reply to Jonas Weber as")
    expect(answer).to_be_focused()
    app.call(f"/conversations/{conversation_id}/messages", {"content": "Is the 12th free?"})
    expect(page.locator("#chat")).to_contain_text("Is the 12th free?")
    answer.fill("Good evening, it is free.")
    answer.press("Enter")
    expect(page.locator("#chat")).to_contain_text("Good evening, it is free.")
    answer.press("Escape")
    page.keyboard.press("h")
    expect(take).to_contain_text("The agent is replying")
    expect(answer).to_be_hidden()
    settle()
    assert messages(app, conversation_id)[2:] == [
        "system: A colleague was asked to join.",
        "system: A colleague joined the conversation.",
        "user: Is the 12th free?",
        "operator: Good evening, it is free.",
        "system: A colleague left the conversation.",
    ]


@pytest.mark.requirement("W03")
def test_a_second_takeover_shows_who_has_the_conversation(page: Page, app: App, complaints: Complaints) -> None:
    """The page was open before another took over."""
    conversation_id = ask_for_a_person(app)
    open_page(page, app, f"inbox/{conversation_id}")
    take = page.locator("#take")
    expect(take).to_contain_text("asked for a person")
    with app.tenant.tx():
        # The page gets no event about this; only the server's response says so.
        Conversation.objects.filter(pk=conversation_id).update(operator=member_of(app.tenant, Role.OPERATOR))
    complaints.provoke("409 (Conflict)")
    page.keyboard.press("t")
    expect(page.locator("#refused")).to_contain_text("has this conversation")
    expect(take).to_contain_text("is talking to Jonas Weber")


@pytest.mark.requirement("W03")
def test_a_new_request_appears_live_and_is_claimed_on_a_phone(phone_page: Page, app: App) -> None:
    """The list updates by itself, also at 390 px."""
    page = phone_page
    open_page(page, app, "inbox")
    expect(page.locator("#list")).to_contain_text("No conversations yet")
    ask_for_a_person(app)
    page.get_by_role("link", name="Jonas Weber").click()
    page.get_by_role("button", name="Take over").click()
    expect(page.locator("#take")).to_contain_text("You’re talking to Jonas Weber")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert findings(page) == []
    page.get_by_label("Reply to Jonas Weber as").fill("Good evening")
    page.get_by_label("Send").click()

    def has_come() -> bool:
        with app.tenant.tx():
            return Message.objects.filter(role=MessageRole.OPERATOR).exists()

    until(has_come, what="the operator's message")


@pytest.mark.requirement("W03")
def test_ten_waiting_conversations_are_answered_by_keyboard_alone(page: Page, app: App) -> None:
    """The next one is reached from each answer, and in the end nobody waits."""
    for number in range(10):
        talk(app.tenant, "Is the terrace open?", guest=f"guest-{number}", name=f"Guest {number}", flag="look")
    open_page(page, app, "inbox")
    expect(page.locator("#list .ib-row")).to_have_count(10)
    for number in range(10):
        page.keyboard.press("j")
        expect(page.locator("[data-row]:focus")).to_have_count(1)
        page.keyboard.press("Enter")
        expect(page.locator("#take")).to_contain_text("The agent is replying")
        page.keyboard.press("t")
        expect(page.locator("#say")).to_be_focused()
        page.keyboard.type(f"It is, answer {number}.")
        page.keyboard.press("Enter")
        expect(page.locator("#chat")).to_contain_text(f"answer {number}.")
        page.keyboard.press("Escape")
        expect(page.locator("#say")).not_to_be_focused()
        page.keyboard.press("e")
        expect(page.locator("#state")).to_contain_text("Closed")
    expect(page.locator("#list")).to_contain_text("No one is waiting")
    expect(page.get_by_role("link", name="Waiting 0")).to_be_visible()
    with app.tenant.tx():
        assert Message.objects.filter(role=MessageRole.OPERATOR).values("conversation").distinct().count() == 10
        assert not Conversation.objects.filter(closed_at=None).exists()


def test_selected_conversations_are_assigned_and_closed_at_once(page: Page, app: App) -> None:
    """By keyboard; the list and its counts follow without a reload."""
    for number in range(3):
        talk(app.tenant, "Hi", guest=f"guest-{number}", name=f"Guest {number}", flag="look")
    open_page(page, app, "inbox")
    for _ in range(2):
        page.keyboard.press("j")
        page.keyboard.press("x")
    expect(page.locator(".ib-row.picked")).to_have_count(2)
    expect(page.get_by_role("toolbar", name="Selected conversations")).to_contain_text("2 conversations selected")
    page.keyboard.press("i")
    expect(page.locator("#toasts")).to_contain_text("2 conversations assigned")
    expect(page.get_by_role("link", name="Mine 2")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("e")
    expect(page.locator("#toasts")).to_contain_text("1 conversation closed")
    expect(page.locator("#list .ib-row")).to_have_count(2)
    expect(page.locator(".mg-nav a[data-page=inbox] .mg-n")).to_have_text(re.compile("^2"))
    page.locator("#toasts").get_by_role("button", name="Reopen").click()
    expect(page.locator("#toasts")).to_contain_text("1 conversation reopened")
    with app.tenant.tx():
        assert not Conversation.objects.exclude(closed_at=None).exists()


def test_an_answer_being_typed_survives_a_reload(page: Page, app: App) -> None:
    row = talk(app.tenant, "Hi", name="Guest", flag="look")
    with app.tenant.tx():
        take_over(row.pk, by=app.tenant.owner)
    open_page(page, app, f"inbox/{row.pk}")
    page.locator("#say").fill("Good evening, it is")
    page.reload()
    expect(page.locator("#say")).to_have_value("Good evening, it is")
    page.locator("#say").press("Enter")
    expect(page.locator("#chat")).to_contain_text("Good evening, it is")
    page.reload()
    expect(page.locator("#say")).to_have_value("")


def test_a_text_stays_in_sight_when_the_conversation_is_handed_back_meanwhile(page: Page, app: App) -> None:
    """The letters typed next press no keys of the page."""
    row = talk(app.tenant, "Hi", name="Guest", flag="look")
    open_page(page, app, f"inbox/{row.pk}")
    page.keyboard.press("t")
    expect(page.locator("#say")).to_be_focused()
    page.keyboard.type("Good evening")
    expect(page.locator("[data-do=hand-back]")).to_be_visible()
    with app.tenant.tx():
        hand_back(row.pk, by=app.tenant.owner)
    expect(page.locator("#refused")).to_be_visible()
    page.keyboard.type("e")
    expect(page.locator("#say")).to_have_value("Good evening")
    expect(page.locator("#say")).to_have_js_property("readOnly", True)
    with app.tenant.tx():
        assert Conversation.objects.get(pk=row.pk).closed_at is None


def test_a_handback_before_the_takeover_was_shown_leaves_the_text_with_a_sentence(page: Page, app: App) -> None:
    """A colleague handed back between the takeover and the page's next look."""
    row = talk(app.tenant, "Hi", name="Guest", flag="look")
    open_page(page, app, f"inbox/{row.pk}")
    held: list[Route] = []
    page.route("**/take-over", lambda route: held.append(route))
    page.keyboard.press("t")
    page.keyboard.type("Good evening")
    while not held:
        page.wait_for_timeout(20)
    with app.tenant.tx():
        take_over(row.pk, by=app.tenant.owner)
        hand_back(row.pk, by=app.tenant.owner)
    held.pop().fulfill(json={})
    expect(page.locator("#say")).to_have_js_property("readOnly", True)
    expect(page.locator("#say")).to_have_value("Good evening")
    expect(page.locator("#refused")).to_contain_text("You no longer have this conversation")


def test_an_answer_is_sent_once_if_its_page_was_left_before_the_response(
    page: Page, app: App, complaints: Complaints
) -> None:
    """The server has stored the message; the same words after the reload are the same request."""
    complaints.provoke("ERR_FAILED")
    row = talk(app.tenant, "Hi", name="Guest", flag="look")
    with app.tenant.tx():
        take_over(row.pk, by=app.tenant.owner)
    open_page(page, app, f"inbox/{row.pk}")
    page.route("**/operator-messages", lambda route: (route.fetch(), route.abort()))
    page.locator("#say").fill("Good evening")
    page.locator("#say").press("Enter")
    expect(page.get_by_text("The server can’t be reached.")).to_be_visible()
    page.unroute("**/operator-messages")
    page.reload()
    expect(page.locator("#say")).to_have_value("Good evening")
    page.locator("#say").press("Enter")
    expect(page.locator("#say")).to_have_value("")
    with app.tenant.tx():
        assert Message.objects.filter(role=MessageRole.OPERATOR).count() == 1


def test_the_second_operator_sees_what_the_first_did(page: Page, app: App) -> None:
    """Without a reload."""
    row = talk(app.tenant, "Hi", name="Guest", flag="look")
    open_page(page, app, f"inbox/{row.pk}")
    with app.tenant.tx():
        colleague = member_of(app.tenant, Role.OPERATOR)
        assign(row.pk, colleague, by=colleague)
    expect(page.locator("#state")).to_contain_text(colleague.name)
    expect(page.locator("#activity")).to_contain_text(f"{colleague.name} took it")


def test_a_resolved_request_can_be_undone_after_the_page_was_refreshed(page: Page, app: App) -> None:
    conversation_id = ask_for_a_person(app)
    open_page(page, app, f"inbox/{conversation_id}")
    page.locator("#take").get_by_role("button", name="Resolve").click()
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    with page.expect_response(re.compile(rf"/inbox/{conversation_id}$")):
        app.call(f"/conversations/{conversation_id}/messages", {"content": "Is the 12th free?"})
    expect(page.locator("#chat")).to_contain_text("Is the 12th free?")
    settle()
    undo.click()
    expect(page.locator("#flag")).to_contain_text("The request is open again.")
    expect(page.locator("#take")).to_contain_text("asked for a person")


def test_a_form_submitted_twice_is_sent_once(page: Page, app: App) -> None:
    """A second click before the response opens no second ticket."""
    open_page(page, app, "inbox/tickets/new")
    page.get_by_label("Subject").fill("Charged twice for order 727")
    page.get_by_label("Description").fill("The card shows 31.70 two times.")
    with app.tenant.tx():
        # The answer waits for this.
        Project.objects.select_for_update().get(pk=app.tenant.project.pk)
        page.evaluate(PRESS_TWICE)
    expect(page.locator(".ib-ticket").get_by_role("status")).to_contain_text("Ticket #1 created.")
    with app.tenant.tx():
        assert Ticket.objects.count() == 1


def test_an_operator_message_is_not_duplicated_after_a_lost_response(
    page: Page, app: App, complaints: Complaints
) -> None:
    """The server has stored the message, and the page retries it."""
    complaints.provoke("ERR_FAILED")
    app.model.script("reply", text="Good evening.")
    conversation_id = converse(app, "Is Friday free?", **JONAS)
    with app.tenant.tx():
        take_over(UUID(conversation_id), by=app.tenant.owner)
    open_page(page, app, f"inbox/{conversation_id}")

    def lose_the_answer(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/operator-messages", lose_the_answer)
    field = page.get_by_label("Reply to Jonas Weber as")
    field.fill("Good evening, it is free.")
    field.press("Enter")
    expect(page.get_by_text("The server can’t be reached.")).to_be_visible()
    expect(field).to_have_value("Good evening, it is free.")
    page.unroute("**/operator-messages")
    field.press("Enter")
    expect(field).to_have_value("")
    with app.tenant.tx():
        assert Message.objects.filter(role=MessageRole.OPERATOR).count() == 1
