"""The playground in a real browser, on the real product with the offline model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, ViewportSize, expect

from conversations.models import Conversation, PersonaField, Turn, TurnStatus
from tests.browser.conftest import DESK, PHONE, App, Complaints, hold_back, open_page
from tests.browser.talk import SAID, composer, converse, send, turn_title
from tests.conftest import make_tenant
from tests.processes import ScriptedModel
from tests.tools.caller_lookup.conftest import connect_records
from tests.tools.caller_lookup.lookup_server import LookupServer

pytestmark = pytest.mark.browser

MARKUP = "<img src=x onerror=alert(1)> https://example.com/menu, javascript:alert(1)"
PROMISE = "Could you text me the details?"


@dataclass(frozen=True)
class Told:
    """A conversation of two turns, the second of which promises a text message. It is only looked at."""

    app: App
    conversation: str


@pytest.fixture(scope="module")
def told(product: str, _model_process: ScriptedModel) -> Told:
    app = App(product, make_tenant("Nello"), _model_process)
    return Told(app, converse(app, MARKUP, PROMISE, is_test=True, name="Giulia Ferri", phone="+39 347 555 0142"))


def open_told(page: Page, told: Told) -> None:
    open_page(page, told.app, f"playground?conversation={told.conversation}")
    expect(turn_title(page)).to_contain_text(re.compile(r"Turn 2\s*Done in"))


def lane(page: Page, name: str) -> Locator:
    return page.locator(f"#score [data-lane={name}]")


def test_an_opener_starts_a_conversation_that_survives_a_reload(page: Page, app: App) -> None:
    open_page(page, app, "playground")
    expect(page.get_by_label("Message as the customer")).to_be_focused()
    opener = page.locator("#openers button").first
    words = opener.inner_text().strip()
    opener.click()
    expect(page.locator(SAID)).to_contain_text(words)
    expect(turn_title(page)).to_contain_text("Done in")
    answer = page.locator(".mg-msg.sel > p").inner_text()
    page.reload()
    expect(page.locator(SAID)).to_contain_text(words)
    expect(page.locator(".mg-msg.sel > p")).to_have_text(answer)


def test_a_newer_message_withdraws_the_reply_in_progress(page: Page, app: App) -> None:
    """It is seen as it is written. Then the customer no longer sees it; staff finds it, struck out, in its turn."""
    app.model.script("reply", match="First", text="Half a thought and then another. " * 100, gap_ms=100)
    open_page(page, app, "playground")
    send(page, "First")
    expect(page.locator("#chat [aria-busy] p")).to_contain_text("Half a thought")
    send(page, "No, wait")
    expect(page.locator(".pg-superseded")).to_contain_text("Superseded by turn 2")
    expect(page.locator("#chat")).not_to_contain_text("Half a thought")
    page.get_by_role("button", name="Turn 1").click()
    expect(page.locator("#reading s")).to_contain_text("Half a thought")


def test_a_reload_during_a_turn_shows_its_progress(page: Page, app: App, settings: Any) -> None:
    """While the model has not said a word yet, and, beside what it has said, while a tool is waited for."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    busy = page.locator("#chat [aria-busy]")
    app.model.script("reply", fault="hang")
    begun = app.call("/conversations", {"channel": "phone", "persona": {"external_id": "a", "phone": "+393331234567"}})
    said = f"/conversations/{begun['id']}/messages"
    app.call(said, {"content": "Hello?"})
    open_page(page, app, f"playground?conversation={begun['id']}")
    expect(busy).to_have_text("Writing the reply")
    page.reload()
    expect(busy).to_have_text("Writing the reply")
    with LookupServer() as records:
        records.script.may_answer.clear()
        connect_records(app.tenant, records.url)
        app.model.script("reply", text="One moment.", tool_calls=[{"name": "lookup_caller", "arguments": {}}])
        app.model.script("reply", text="Hello Anna!")
        app.call(said, {"content": "Do you know me?"})
        expect(busy).to_have_text(["One moment.", "Calling “Look up caller”"])
        page.reload()
        expect(busy).to_have_text(["One moment.", "Calling “Look up caller”"])
    expect(page.locator("#chat")).to_contain_text("Hello Anna!")
    expect(busy).to_have_count(0)


def test_a_rerun_of_an_older_reply_is_shown_in_its_turn(page: Page, app: App) -> None:
    conversation = converse(app, "Hello", "Are you there?")
    with app.tenant.tx():
        Turn.objects.filter(seq=1).update(status=TurnStatus.REPLYING)
    open_page(page, app, f"playground?conversation={conversation}")
    expect(page.locator("#chat [aria-busy]")).to_have_text("Writing the reply")


def test_a_test_customer_is_used_for_the_next_conversation(page: Page, app: App) -> None:
    open_page(page, app, "playground")
    page.get_by_role("button", name="Test customer").click()
    page.get_by_label("Name").fill("Marta Bianchi")
    page.get_by_role("button", name="Start conversation").click()
    expect(composer(page)).to_have_attribute("placeholder", "Write as Marta…")
    send(page, "Hello")
    expect(page.locator("#chat")).to_contain_text("Conversation started")
    expect(page.locator("#persona-open")).to_contain_text("Marta Bianchi")
    with app.tenant.tx():
        assert PersonaField.objects.get(key="name").value == "Marta Bianchi"


def test_an_unsent_message_is_kept_for_a_retry(page: Page, app: App, complaints: Complaints) -> None:
    """The same Idempotency-Key goes out again, so that nothing counts twice."""
    complaints.provoke("status of 503")
    keys: list[str] = []
    problem = '{"error": {"code": "unavailable", "message": "The database is away.", "field": null, "request_id": "r"}}'

    def refuse(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        route.fulfill(status=503, body=problem)

    open_page(page, app, "playground")
    page.route("**/messages", refuse, times=1)
    send(page, "Do you get this?")
    expect(page.locator(SAID)).to_contain_text("Not sent. The database is away.")
    with page.expect_request("**/messages") as again:
        page.get_by_role("button", name="Try again").click()
    expect(turn_title(page)).to_contain_text("Turn 1")
    expect(page.locator(SAID)).not_to_contain_text("Not sent")
    assert keys == [again.value.headers["idempotency-key"]]


def test_a_message_sent_while_the_conversation_opens_arrives_in_it(page: Page, app: App) -> None:
    """The answer that opens it is held back until something is sent."""
    conversation = converse(app, "Hello", is_test=True)
    release = hold_back(page, f"**/conversations/{conversation}")
    open_page(page, app, f"playground?conversation={conversation}")
    send(page, "Are you open on Sunday?")
    expect(page.locator(SAID)).to_contain_text("Sending")
    release()
    expect(turn_title(page)).to_contain_text("Turn 2")
    with app.tenant.tx():
        assert Conversation.objects.count() == 1


@pytest.mark.requirement("N33", "N39")
def test_a_promise_is_marked_and_its_verdict_fired(page: Page, told: Told) -> None:
    """The words of the promise are marked in place, and the same number stands at the verdict and the effect."""
    open_told(page, told)
    verdict = page.locator("[data-verdict=send_sms_tool]")
    expect(verdict).to_contain_text("Fired")
    number = str(verdict.get_attribute("data-w"))
    words = page.locator(f"#reading mark[data-w='{number}']")
    expect(words).to_have_attribute("data-s", "ok")
    expect(lane(page, "effect")).to_have_attribute("data-w", number)
    words.hover()
    expect(page.locator("#panes")).to_have_attribute("data-lit", number)


def test_a_verdict_without_words_marks_nothing_and_says_so(page: Page, app: App) -> None:
    """An invented quote is named as the model's, and never shown as the agent's words."""
    invented = "I'll text you the details"
    met = [{"name": name, "met": True} for name in ("agentPromised", "notRelatedToExistingBooking")]
    found = [{"quote": invented, "tool": "send_sms_tool", "conditions": met, "rule": None}]
    app.model.script("reply", text="We open at noon.")
    app.model.script("detect", times=0, match="## send_sms_tool", json={"verdicts": found, "unserved": []})
    conversation = converse(app, "Please text me", is_test=True)
    open_page(page, app, f"playground?conversation={conversation}")
    verdict = page.locator("[data-verdict=send_sms_tool]")
    expect(verdict.locator("summary")).to_contain_text("No words for it in this reply.")
    expect(verdict.locator("summary")).not_to_contain_text(invented)
    expect(verdict).not_to_have_attribute("data-w", re.compile(r"\d"))
    expect(verdict.locator("dd").filter(has_text=invented)).to_have_count(1)
    expect(verdict.get_by_label("What send_sms_tool should be")).to_have_count(0)


@pytest.mark.requirement("N01")
def test_three_flows_finish_after_the_reply(page: Page, told: Told) -> None:
    """Each is a lane of its own beside the reply."""
    open_told(page, told)
    for name in ("reply", "observer", "thoughts", "tool_caller"):
        expect(lane(page, name)).to_have_count(1)


@pytest.mark.requirement("T15", "T20")
def test_directives_are_shown_with_their_changes(page: Page, told: Told) -> None:
    open_told(page, told)
    page.get_by_role("tab", name="Directives").click()
    panel = page.locator("#directives")
    expect(panel).to_contain_text("Written after turn 2")
    page.get_by_role("button", name="As prompt").click()
    expect(panel.locator("pre")).to_contain_text("<CurrentTaskAnalysis version=")


@pytest.mark.requirement("N33")
def test_the_prompt_of_a_model_call_opens_in_parts(page: Page, told: Told) -> None:
    """The rendered prompt is stored and viewable, in the last of the tabs, which the arrow keys reach."""
    open_told(page, told)
    page.get_by_role("tab", name="Verdicts").press("ArrowLeft")
    expect(page.get_by_role("tab", name="Model calls")).to_be_focused()
    page.get_by_role("button", name="Prompt: Reply").click()
    parts = page.get_by_role("navigation", name="Parts of the prompt")
    parts.get_by_role("button", name="Business Context").click()
    expect(page.locator(".pg-parts pre")).to_contain_text("<BusinessContext>")


def test_single_keys_move_between_turns_and_start_a_new_conversation(page: Page, told: Told) -> None:
    open_told(page, told)
    page.keyboard.press("k")
    expect(turn_title(page)).to_contain_text("Turn 1")
    page.keyboard.press("j")
    expect(turn_title(page)).to_contain_text("Turn 2")
    page.keyboard.press("n")
    expect(page.locator("#openers")).to_be_visible()
    page.go_back()
    expect(turn_title(page)).to_contain_text("Turn 2")


def test_customer_messages_never_become_markup(page: Page, told: Told) -> None:
    open_told(page, told)
    said = page.locator(SAID).first
    expect(said).to_contain_text("<img src=x onerror=alert(1)>")
    expect(said.locator("a")).to_have_attribute("href", "https://example.com/menu")


def test_a_phone_shows_chat_and_turn_as_two_views(phone_page: Page, told: Told) -> None:
    open_page(phone_page, told.app, f"playground?conversation={told.conversation}")
    turn_link = phone_page.locator("#chat").get_by_role("button", name="Turn 2")
    expect(turn_link).to_be_visible()
    expect(turn_title(phone_page)).to_be_hidden()
    turn_link.click()
    expect(turn_title(phone_page)).to_be_visible()
    assert phone_page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_a_customers_conversation_can_be_inspected_and_not_continued(page: Page, app: App, size: ViewportSize) -> None:
    page.set_viewport_size(size)
    conversation = converse(app, "Hello", name="Paolo Conti")
    open_page(page, app, f"playground?conversation={conversation}")
    expect(page).to_have_title(re.compile("^Turns of Paolo Conti"))
    expect(page.locator(".mg-top .mg-tag").first).to_have_text("Chat")
    expect(page.get_by_text("Test conversation")).to_have_count(0)
    expect(turn_title(page)).to_contain_text("Turn 1")
    expect(page.locator("main :is(textarea, #compose, #new, #persona-open, #channels)")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("navigation", name="Breadcrumb").get_by_role("link", name="Paolo Conti").click()
    expect(page).to_have_url(re.compile(rf"/inbox/{conversation}$"))
