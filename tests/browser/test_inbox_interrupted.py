"""An answer that is interrupted while it is typed: by a lost connection, or by a session that ended."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from conversations.handover.operators import take_over
from conversations.models import Conversation, Message, MessageRole
from tests.browser.axe import findings
from tests.browser.conftest import App, Complaints, hold_back, open_page, sign_in
from tests.console.pages.conftest import talk
from tests.processes import until

pytestmark = pytest.mark.browser

TYPED = "Good evening, it is free at"
# Drops a file. False if the page takes it, so that the browser doesn't.
DROP = """element => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(["A menu"], "a.txt", { type: "text/plain" }));
  return element.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
}"""


@pytest.fixture
def taken(app: App) -> Conversation:
    """A conversation that the owner has taken over."""
    row = talk(app.tenant, "Is Friday free?", name="Jonas Weber", flag="look")
    with app.tenant.tx():
        take_over(row.pk, by=app.tenant.owner)
    return row


def answers(app: App) -> list[str]:
    with app.tenant.tx():
        return list(Message.objects.filter(role=MessageRole.OPERATOR).values_list("content", flat=True))


def test_a_draft_is_sent_once_after_a_lost_connection(
    page: Page, app: App, taken: Conversation, complaints: Complaints
) -> None:
    complaints.provoke("ERR_INTERNET_DISCONNECTED")
    complaints.provoke("ERR_FAILED")
    open_page(page, app, f"inbox/{taken.pk}")
    expect(page.locator("#chat")).to_contain_text("Is Friday free?")
    page.context.set_offline(True)
    try:
        page.locator("#say").fill(f"{TYPED} eight.")
        page.locator("#say").press("Enter")
        expect(page.get_by_text("The server can’t be reached.")).to_be_visible()
        expect(page.locator("#say")).to_have_value(f"{TYPED} eight.")
        assert answers(app) == []
    finally:
        page.context.set_offline(False)
    page.locator("#say").press("Enter")
    until(lambda: answers(app) != [], what="the answer")
    expect(page.locator("#say")).to_have_value("")
    assert answers(app) == [f"{TYPED} eight."]


def test_an_ended_session_leads_to_the_sign_in_and_keeps_the_draft(
    page: Page, app: App, taken: Conversation, complaints: Complaints
) -> None:
    """After the next sign-in, the answer goes on where it ended."""
    complaints.provoke("status of 40")
    open_page(page, app, f"inbox/{taken.pk}")
    page.locator("#say").fill(TYPED)
    page.context.clear_cookies()
    page.locator("#say").press("Enter")
    page.reload()
    expect(page).to_have_url(re.compile(f"/account/login/.*{taken.pk}"))
    open_page(page, app, f"inbox/{taken.pk}")
    expect(page.locator("#say")).to_have_value(TYPED)
    assert answers(app) == []


def test_an_open_conversation_reports_an_ended_session_and_keeps_the_draft(
    page: Page, app: App, taken: Conversation, complaints: Complaints
) -> None:
    """After a sign-in in another tab, the same page sends it."""
    complaints.provoke("status of 40")
    open_page(page, app, f"inbox/{taken.pk}")
    page.locator("#say").fill(TYPED)
    page.context.clear_cookies()
    note = page.locator("#ended")
    expect(note).to_contain_text("You were signed out.")
    expect(note).to_be_visible()
    expect(note.get_by_role("link", name="Sign in")).to_have_attribute("target", "_blank")
    expect(page.locator("#say")).to_have_value(TYPED)
    page.locator("#say").press("Enter")
    expect(page.locator("#refused")).to_have_text("You were signed out.", use_inner_text=True)
    expect(page.locator("#say")).to_have_value(TYPED)
    sign_in(page, app)
    expect(note).to_be_hidden()
    page.locator("#say").press("Enter")
    until(lambda: answers(app) == [TYPED], what="the answer")


def test_a_form_whose_session_ended_stays_until_it_can_be_saved(page: Page, app: App, complaints: Complaints) -> None:
    complaints.provoke("status of 40")
    open_page(page, app, "agent")
    page.get_by_label("Agent name").fill("Bruno")
    page.context.clear_cookies()
    page.get_by_role("button", name="Save draft").click()
    note = page.get_by_role("alert").filter(has_text="You were signed out.")
    expect(note).to_be_visible()
    expect(page.get_by_label("Agent name")).to_have_value("Bruno")
    sign_in(page, app)
    expect(note).to_be_hidden()
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Draft saved")).to_be_visible()
    expect(page.get_by_label("Agent name")).to_have_value("Bruno")


def test_input_before_the_scripts_run_is_neither_lost_nor_mixed(page: Page, app: App, taken: Conversation) -> None:
    release = hold_back(page, "**/js/inbox/page.js")
    open_page(page, app, f"inbox/{taken.pk}", until="commit")
    page.locator("#say").press_sequentially("Yes.")
    page.locator("#say").press("Enter")
    page.locator("#say").press_sequentially(TYPED)
    assert not page.locator("#chat-scroll").evaluate(DROP), "the browser would open the file"
    release()
    until(lambda: answers(app) != [], what="the answer")
    expect(page.locator("#files")).to_contain_text("a.txt")
    expect(page.locator("#say")).to_have_value(TYPED)
    assert answers(app) == ["Yes."]


def test_keys_right_after_the_takeover_go_into_the_answer(page: Page, app: App) -> None:
    row = talk(app.tenant, "Is Friday free?", name="Jonas Weber", flag="look")
    open_page(page, app, f"inbox/{row.pk}")
    release = hold_back(page, "**/take-over")
    page.keyboard.press("t")
    page.keyboard.type("He exits")
    page.keyboard.press("Enter")
    release()
    until(lambda: answers(app) == ["He exits"], what="the answer")
    expect(page.locator("#say")).to_have_value("")


def test_typing_goes_on_after_a_takeover_that_did_not_reach_the_server(
    page: Page, app: App, complaints: Complaints
) -> None:
    complaints.provoke("ERR_INTERNET_DISCONNECTED")
    row = talk(app.tenant, "Is Friday free?", name="Jonas Weber", flag="look")
    open_page(page, app, f"inbox/{row.pk}")
    page.context.set_offline(True)
    try:
        # The page is asked for in vain as well.
        with page.expect_event("requestfailed", lambda request: request.url.endswith(f"/inbox/{row.pk}")):
            page.keyboard.press("t")
        expect(page.locator("#refused")).to_contain_text("The server can’t be reached.")
        page.keyboard.type("It is free.")
        expect(page.locator("#say")).to_have_value("It is free.")
    finally:
        page.context.set_offline(False)
    page.locator("[data-key=t]").click()
    expect(page.locator("#take")).to_contain_text("You’re talking to")
    page.locator("#say").press("Enter")
    until(lambda: answers(app) == ["It is free."], what="the answer")


def test_the_list_says_that_the_server_cannot_be_reached_and_catches_up(
    page: Page, app: App, complaints: Complaints
) -> None:
    complaints.provoke("429 (Too Many Requests)")
    complaints.provoke("ERR_INTERNET_DISCONNECTED")
    page.route("**/inbox/events*", lambda route: route.fulfill(status=429))
    open_page(page, app, "inbox?view=all")
    note = page.locator("#list-lost")
    expect(note).to_be_hidden()
    page.context.set_offline(True)
    try:
        expect(note).to_be_visible()
        assert findings(page, within=".ib-list") == []
        talk(app.tenant, "Is Friday free?", name="Jonas Weber")
    finally:
        page.context.set_offline(False)
    expect(page.locator("#list")).to_contain_text("Is Friday free?")
    expect(note).to_be_hidden()


def test_a_conversation_whose_stream_fell_silent_says_so_and_connects_anew(
    page: Page, app: App, taken: Conversation, complaints: Complaints
) -> None:
    """A network can lose a connection without a word to the browser."""
    complaints.provoke("ERR_FAILED")
    complaints.provoke("429 (Too Many Requests)")
    page.route("**/inbox/events*", lambda route: route.fulfill(status=429))
    open_page(page, app, f"inbox/{taken.pk}")
    app.call(f"/conversations/{taken.pk}/messages", {"content": "Or Saturday?"})
    expect(page.locator("#chat")).to_contain_text("Or Saturday?")
    page.route("**part=list", lambda route: route.abort())
    expect(page.locator("#lost")).to_be_visible()
    with page.expect_response(re.compile(f"/conversations/{taken.pk}/events")) as response:
        page.unroute("**part=list")
    assert response.value.status == 200
    expect(page.locator("#lost")).to_be_hidden()
    app.call(f"/conversations/{taken.pk}/messages", {"content": "Hello?"})
    expect(page.locator("#chat")).to_contain_text("Hello?")


def test_a_transcript_that_could_not_be_loaded_is_asked_for_again(
    page: Page, app: App, taken: Conversation, complaints: Complaints
) -> None:
    complaints.provoke("ERR_FAILED")
    page.route(f"**/api/v1/conversations/{taken.pk}", lambda route: route.abort(), times=1)
    open_page(page, app, f"inbox/{taken.pk}")
    expect(page.locator("#chat")).to_contain_text("Couldn’t load the transcript.")
    expect(page.locator("#chat")).to_contain_text("Is Friday free?")
    expect(page.locator("#chat")).not_to_contain_text("Couldn’t load the transcript.")
