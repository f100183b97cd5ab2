"""The playground in a real browser, on the real product with the offline model."""

from __future__ import annotations

import json
import re
import urllib.request

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import App

pytestmark = pytest.mark.browser

PROMISE = "Could you text me the details?"


def script(app: App, **step: object) -> None:
    """What the offline model answers next."""
    body = json.dumps([step]).encode()
    request = urllib.request.Request(f"{app.model_url}/script", body, {"Content-Type": "application/json"})
    urllib.request.urlopen(request).close()


def sign_in(page: Page, app: App) -> None:
    page.goto(f"{app.base_url}/p/{app.project}/playground")
    page.get_by_label("E-mail").fill(app.email)
    page.get_by_label("Password").fill(app.password)
    page.get_by_role("button", name="Sign in").click()
    # Shown by the page's own script: from here on keys and clicks are heard.
    expect(page.locator("#openers")).to_be_visible()


def say(page: Page, text: str) -> None:
    """Send, and wait until the turn and its flows are done."""
    sent = page.locator(".mg-msg.me:not(.pg-superseded)").count()
    page.get_by_label("Message as the customer").fill(text)
    page.keyboard.press("Enter")
    expect(page.locator(".mg-msg.me:not(.pg-superseded)")).to_have_count(sent + 1)
    expect(turn_title(page)).to_contain_text(re.compile(rf"Turn {sent + 1}\s*Done in"), timeout=20_000)


def turn_title(page: Page) -> Locator:
    return page.locator("#turn-title")


def lane(page: Page, name: str) -> Locator:
    return page.locator(f"#score [data-lane={name}]")


def reply(page: Page) -> Locator:
    return page.locator(".mg-msg.sel > p")


def test_wrong_password_is_told_in_a_sentence(page: Page, app: App) -> None:
    page.goto(app.base_url)
    page.get_by_label("E-mail").fill(app.email)
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("E-mail")).to_have_value(app.email)


def test_reply_comes_as_tokens(page: Page, app: App) -> None:
    sign_in(page, app)
    say(page, "Hi, do you have a table for four this Friday?")
    expect(reply(page)).not_to_be_empty()
    assert page.evaluate("window.tokens") > 0


def test_three_flows_finish_after_the_reply(page: Page, app: App) -> None:
    """T10, T13, T16: each is a lane of its own beside the reply."""
    sign_in(page, app)
    say(page, "Hi, do you have a table for four this Friday?")
    for name in ("reply", "observer", "thoughts", "tool_caller"):
        expect(lane(page, name)).to_have_count(1)


def test_newer_message_withdraws_the_reply_under_way(page: Page, app: App) -> None:
    """The customer no longer sees it; staff finds it, struck out, in its turn."""
    sign_in(page, app)
    script(app, skill="reply", text="Half a thought and then another. " * 40, gap_ms=100)
    page.get_by_label("Message as the customer").fill("First")
    page.keyboard.press("Enter")
    expect(page.locator("#chat [aria-busy] p")).to_contain_text("Half a thought", timeout=20_000)
    page.get_by_label("Message as the customer").fill("No, wait")
    page.keyboard.press("Enter")
    expect(page.locator(".pg-superseded")).to_contain_text("superseded by turn 2")
    expect(page.locator("#chat")).not_to_contain_text("Half a thought")
    page.get_by_role("button", name="Turn 1").click()
    expect(page.locator("#reading s")).to_contain_text("Half a thought")


def test_opener_starts_a_conversation(page: Page, app: App) -> None:
    sign_in(page, app)
    opener = page.locator("#openers button").first
    words = opener.inner_text().strip()
    opener.click()
    expect(page.locator(".mg-msg.me").first).to_contain_text(words)
    expect(turn_title(page)).to_contain_text("Done in", timeout=20_000)


def test_promise_is_marked_and_its_verdict_fired(page: Page, app: App) -> None:
    """N33, N39: the words of the promise are marked in place, and the same number stands at the verdict and the effect."""
    sign_in(page, app)
    say(page, "Hi, I’m Giulia Ferri, my number is +39 347 555 0142")
    say(page, PROMISE)
    verdict = page.locator("[data-verdict=send_sms_tool]")
    expect(verdict).to_contain_text("Fired")
    number = verdict.get_attribute("data-w")
    expect(page.locator(f"#reading mark[data-w='{number}']")).to_have_attribute("data-s", "ok")
    expect(lane(page, "effect")).to_have_attribute("data-w", str(number))


def test_pointing_at_words_lights_up_their_verdict(page: Page, app: App) -> None:
    sign_in(page, app)
    say(page, "Hi, I’m Giulia Ferri, my number is +39 347 555 0142")
    say(page, PROMISE)
    page.locator("#reading mark[data-w]").first.hover()
    number = page.locator("#panes").get_attribute("data-lit")
    expect(page.locator(f"[data-verdict][data-w='{number}']")).to_have_count(1)


def test_directives_are_shown_with_what_changed(page: Page, app: App) -> None:
    """T15, T20"""
    sign_in(page, app)
    say(page, "Hi, do you have a table for four this Friday?")
    say(page, "+39 347 555 0142")
    page.get_by_role("tab", name="Directives").click()
    panel = page.locator("#directives")
    expect(panel).to_contain_text("Written by thoughts after turn 2")
    page.get_by_role("button", name="As prompt").click()
    expect(panel.locator("pre")).to_contain_text("<CurrentTaskAnalysis version=")


def test_tabs_move_with_the_arrow_keys(page: Page, app: App) -> None:
    sign_in(page, app)
    say(page, "Hello")
    page.get_by_role("tab", name="Verdicts").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tab", name="Model calls")).to_be_focused()
    expect(page.locator("#calls")).to_be_visible()


def test_prompt_of_a_model_call_opens_in_parts(page: Page, app: App) -> None:
    """N33: the rendered prompt is stored and viewable."""
    sign_in(page, app)
    say(page, "Hello")
    page.get_by_role("tab", name="Model calls").click()
    page.get_by_role("button", name="Prompt of Reply").click()
    parts = page.get_by_role("navigation", name="Parts of the prompt")
    parts.get_by_role("button", name="Business Context").click()
    expect(page.locator(".pg-parts pre")).to_contain_text("<BusinessContext>")


def test_reload_keeps_the_conversation(page: Page, app: App) -> None:
    sign_in(page, app)
    say(page, "Hello, keep this")
    answer = reply(page).inner_text()
    page.reload()
    expect(page.locator(".mg-msg.me")).to_contain_text("Hello, keep this")
    expect(reply(page)).to_have_text(answer)


def test_single_keys_walk_the_turns_and_begin_anew(page: Page, app: App) -> None:
    sign_in(page, app)
    say(page, "Hello")
    say(page, "Are you open on Sunday?")
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    expect(turn_title(page)).to_contain_text("Turn 1")
    page.keyboard.press("j")
    expect(turn_title(page)).to_contain_text("Turn 2")
    page.keyboard.press("n")
    expect(page.locator("#openers")).to_be_visible()
    page.go_back()
    expect(turn_title(page)).to_contain_text("Turn 2")


def test_named_test_customer_is_the_persona_of_the_next_conversation(page: Page, app: App) -> None:
    sign_in(page, app)
    page.get_by_role("button", name="Test customer").click()
    page.get_by_label("Name").fill("Marta Bianchi")
    page.get_by_role("button", name="Start with this customer").click()
    say(page, "Hello")
    expect(page.locator("#persona-open")).to_contain_text("Marta Bianchi")
    expect(page.get_by_label("Message as the customer")).to_have_attribute("placeholder", "Write as Marta…")


def test_message_that_could_not_be_sent_is_kept_for_another_try(page: Page, app: App, complaints: list[str]) -> None:
    """The same Idempotency-Key goes out again, so that nothing counts twice."""
    sign_in(page, app)
    say(page, "Hello")
    keys: list[str] = []
    page.on("request", lambda request: request.method == "POST" and keys.append(request.headers["idempotency-key"]))
    problem = '{"error": {"code": "unavailable", "message": "The database is away.", "field": null, "request_id": "r"}}'
    page.route("**/messages", lambda route: route.fulfill(status=503, body=problem), times=1)
    page.get_by_label("Message as the customer").fill("Do you get this?")
    page.keyboard.press("Enter")
    expect(page.locator(".mg-msg.me").last).to_contain_text("Not sent. The database is away.")
    complaints.clear()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".mg-msg.me").last).not_to_contain_text("Not sent")
    expect(turn_title(page)).to_contain_text("Turn 2")
    assert len(keys) == 2
    assert keys[0] == keys[1]


def test_words_of_a_customer_never_become_markup(page: Page, app: App) -> None:
    sign_in(page, app)
    say(page, "<img src=x onerror=alert(1)> https://example.com/menu, javascript:alert(1)")
    said = page.locator(".mg-msg.me")
    expect(said).to_contain_text("<img src=x onerror=alert(1)>")
    expect(said.locator("a")).to_have_attribute("href", "https://example.com/menu")


def test_phone_shows_chat_and_turn_as_two_views(phone_page: Page, app: App) -> None:
    sign_in(phone_page, app)
    phone_page.get_by_label("Message as the customer").fill("Hello")
    phone_page.keyboard.press("Enter")
    turn_link = phone_page.get_by_role("button", name="Turn 1").last
    expect(turn_link).to_be_visible(timeout=20_000)
    expect(turn_title(phone_page)).to_be_hidden()
    turn_link.click()
    expect(turn_title(phone_page)).to_be_visible()
    assert phone_page.evaluate("document.documentElement.scrollWidth <= innerWidth")
