"""The inbox follows what happens elsewhere, and the model's help in the composer, in a real browser."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect

from conversations.handover.operators import take_over
from conversations.live.inbox_hints import hint_typing
from conversations.models import Conversation, Message, MessageRole
from projects.models import Role
from tests.browser.axe import findings
from tests.browser.conftest import App, Complaints, open_page, sign_in
from tests.conftest import member_of
from tests.console.pages.conftest import talk

pytestmark = pytest.mark.browser

BLOCK_STORAGE = """
for (const area of ["sessionStorage", "localStorage"])
  Object.defineProperty(window, area, { get() { throw new DOMException("Blocked.", "SecurityError"); } });
"""
# Hints alone bring news: nothing is read by the clock.
NO_CLOCK = "() => { for (let timer = 1; timer < 1000; timer += 1) clearInterval(timer); }"


def taken_over(app: App) -> Conversation:
    row = talk(app.tenant, "Is the terrace open?", name="Guest", flag="look")
    with app.tenant.tx():
        take_over(row.pk, by=app.tenant.owner)
    return row


def test_the_list_and_the_counts_follow_without_polling(page: Page, app: App) -> None:
    with page.expect_response(re.compile("part=list")):
        open_page(page, app, "inbox?view=all")
    page.evaluate(NO_CLOCK)
    expect(page.locator("#list")).to_contain_text("No conversations yet")
    conversation = app.call("/conversations", {"channel": "chat", "persona": {"external_id": "guest", "name": "Ada"}})
    app.call(f"/conversations/{conversation['id']}/messages", {"content": "Is anybody there?"})
    expect(page.locator("#list")).to_contain_text("Is anybody there?")
    app.call(f"/conversations/{conversation['id']}/take-over", {})
    app.call(f"/conversations/{conversation['id']}/messages", {"content": "Hello?"})
    expect(page.locator(".mg-nav a[data-page=inbox] .mg-n")).to_have_text(re.compile("^1"))


def test_without_the_stream_the_page_polls(page: Page, app: App, complaints: Complaints) -> None:
    complaints.provoke("429 (Too Many Requests)")
    page.route("**/inbox/events*", lambda route: route.fulfill(status=429))
    open_page(page, app, "inbox?view=all")
    talk(app.tenant, "Is anybody there?", name="Ada")
    expect(page.locator("#list")).to_contain_text("Is anybody there?")


def test_a_member_sees_who_else_is_typing(page: Page, app: App) -> None:
    row = taken_over(app)
    line, other = page.locator("#typing"), member_of(app.tenant, Role.OPERATOR)
    with page.expect_response(re.compile("part=list")):
        open_page(page, app, f"inbox/{row.pk}")
    expect(page.locator("#chat")).to_contain_text("Is the terrace open?")
    hint_typing(app.tenant.project.pk, row.pk, by=other)
    expect(line).to_have_text(f"{other.name} is typing…", use_inner_text=True)
    with page.expect_response(re.compile("/typing")) as told:
        page.locator("#say").press_sequentially("Yes")
    assert told.value.status == 204
    expect(line).to_contain_text(f"{other.name} is also writing a reply.")
    assert findings(page, within=".ib-conv") == []
    expect(line).to_be_hidden()


def test_a_draft_is_written_into_the_composer_and_not_sent(page: Page, app: App) -> None:
    row = taken_over(app)
    app.model.script("draft", text=json.dumps({"answer": "Yes, the terrace is open until eleven."}))
    open_page(page, app, f"inbox/{row.pk}")
    field = page.locator("#say")
    expect(page.locator("#chat")).to_contain_text("Is the terrace open?")
    page.locator("#chat-scroll").focus()
    page.keyboard.press("d")
    expect(field).to_have_value("Yes, the terrace is open until eleven.")
    assert findings(page, within=".ib-conv") == []
    with app.tenant.tx():
        assert not Message.objects.filter(role=MessageRole.OPERATOR).exists()
    field.press("Control+z")
    expect(field).to_have_value("")


def test_text_typed_during_a_draft_stays(page: Page, app: App) -> None:
    row = taken_over(app)

    def late(route: Route) -> None:
        page.locator("#say").fill("I look it up.")
        route.fulfill(json={"content": "Yes, it is."})

    page.route("**/draft", late)
    open_page(page, app, f"inbox/{row.pk}")
    page.get_by_role("button", name="Draft").click()
    expect(page.locator("#say")).to_have_value("I look it up.\nYes, it is.")


def test_a_model_that_fails_is_told_in_a_sentence(page: Page, app: App, complaints: Complaints) -> None:
    complaints.provoke("502 (Bad Gateway)")
    row = taken_over(app)
    app.model.script("draft", fault="content_filter")
    open_page(page, app, f"inbox/{row.pk}")
    page.get_by_role("button", name="Draft").click()
    expect(page.locator("#refused")).to_contain_text("content filter")


def test_messages_and_the_answer_are_translated(page: Page, app: App) -> None:
    row = talk(app.tenant, "Ist die Terrasse offen?", name="Guest", language="de")
    with app.tenant.tx():
        take_over(row.pk, by=app.tenant.owner)
        message = Message.objects.get(conversation=row, role=MessageRole.USER)
    translations = {
        "language": "en",
        "left": 0,
        "translations": [{"message": str(message.pk), "content": "Is it open?"}],
    }
    page.route("**/translations", lambda route: route.fulfill(json=translations))
    page.route(
        "**/translations/answer", lambda route: route.fulfill(json={"language": "de", "content": "Ja, bis elf."})
    )
    open_page(page, app, f"inbox/{row.pk}")
    page.get_by_role("button", name="Translate from German").click()
    expect(page.locator("#chat")).to_contain_text("Is it open?")
    field = page.locator("#say")
    field.fill("Yes, until eleven.")
    page.get_by_role("button", name="Translate into German").click()
    expect(field).to_have_value("Ja, bis elf.")
    expect(page.locator("#answer-original")).to_contain_text("Yes, until eleven.")
    assert findings(page, within=".ib-conv") == []
    page.get_by_role("button", name="Back to my text").click()
    expect(field).to_have_value("Yes, until eleven.")
    page.get_by_role("button", name="Translate into German").click()
    expect(field).to_have_value("Ja, bis elf.")
    field.press("Enter")
    expect(page.locator("#chat .mg-msg.op")).to_contain_text("Ja, bis elf.")
    expect(page.locator("#answer-original")).to_be_hidden()


def test_translations_are_shown_where_the_browser_blocks_storage(page: Page, app: App) -> None:
    row = talk(app.tenant, "Ist die Terrasse offen?", name="Guest", language="de")
    with app.tenant.tx():
        message = Message.objects.get(conversation=row, role=MessageRole.USER)
    translations = [{"message": str(message.pk), "content": "Is it open?"}]
    sign_in(page, app)
    with page.context.new_page() as blocked:
        blocked.add_init_script(BLOCK_STORAGE)
        blocked.route("**/translations", lambda route: route.fulfill(json={"translations": translations}))
        blocked.goto(f"{app.home}/inbox/{row.pk}")
        blocked.get_by_role("button", name="Translate from German").click()
        expect(blocked.locator("#chat")).to_contain_text("Is it open?")


def test_the_offline_model_says_that_it_translates_nothing(page: Page, app: App, complaints: Complaints) -> None:
    complaints.provoke("409 (Conflict)")
    row = talk(app.tenant, "Ist die Terrasse offen?", name="Guest", language="de")
    open_page(page, app, f"inbox/{row.pk}")
    page.get_by_role("button", name="Translate from German").click()
    expect(page.locator("#refused")).to_contain_text("Translation needs a language model")


def test_a_long_conversation_opens_at_its_end_and_leads_back_to_it(page: Page, app: App) -> None:
    row = talk(app.tenant, *(f"Question {number}" for number in range(40)), name="Guest")
    open_page(page, app, f"inbox/{row.pk}")
    scroll, latest = page.locator("#chat-scroll"), page.get_by_role("button", name="Latest")
    newest = scroll.get_by_text("Question 39")
    expect(newest).to_be_in_viewport()
    scroll.evaluate("element => { element.scrollTop = 0; }")
    expect(scroll.get_by_text("Question 0")).to_be_in_viewport()
    expect(latest).to_be_in_viewport(ratio=1)
    # Above what is written in, not over it.
    bottom = "element => element.getBoundingClientRect().bottom"
    assert latest.evaluate(bottom) < scroll.evaluate(bottom)
    latest.click()
    expect(newest).to_be_in_viewport()
    expect(latest).to_be_hidden()
