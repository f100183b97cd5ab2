"""Canned replies in an answer, by keyboard, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from conversations.handover.operators import take_over
from conversations.inbox.canned_replies import make_reply
from tests.browser.axe import findings
from tests.browser.conftest import App, open_page
from tests.console.pages.conftest import talk

pytestmark = pytest.mark.browser


def open_with_replies(page: Page, app: App, **replies: str) -> None:
    row = talk(app.tenant, "Hi", name="Ada", flag="look")
    with app.tenant.tx():
        take_over(row.pk, by=app.tenant.owner)
        for name, content in replies.items():
            make_reply(app.tenant.project, name, content)
    open_page(page, app, f"inbox/{row.pk}")
    expect(page.locator("#say")).to_be_visible()


def test_a_canned_reply_is_inserted_and_sent_by_keyboard_alone(page: Page, app: App) -> None:
    open_with_replies(page, app, Hours="We are open until 10, {{customer.name}}.", Parking="Behind the house.")
    page.keyboard.press("t")
    page.keyboard.type("/")
    expect(page.get_by_role("option")).to_have_count(2)
    assert findings(page, within=".ib-conv") == []
    page.keyboard.type("park")
    expect(page.get_by_role("option")).to_have_count(1)
    for _ in range(4):
        page.keyboard.press("Backspace")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#say")).to_have_value("We are open until 10, Ada.")
    page.keyboard.press("Enter")
    expect(page.locator("#chat")).to_contain_text("We are open until 10, Ada.")


def test_without_a_canned_reply_the_list_leads_to_where_one_is_created(page: Page, app: App) -> None:
    open_with_replies(page, app)
    page.keyboard.press("t")
    page.keyboard.type("/")
    option = page.get_by_role("option")
    expect(option).to_have_text("No canned replies yet. Create one")
    page.keyboard.type("x")
    expect(option).to_have_count(0)
    page.keyboard.press("Backspace")
    expect(option).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Replies and tags")).to_be_visible()
    page.go_back()
    expect(page.locator("#say")).to_have_value("")


def test_a_field_without_a_value_is_not_sent(page: Page, app: App) -> None:
    open_with_replies(page, app, Call="We call {{customer.phone}}.")
    page.get_by_role("button", name="Canned replies").click()
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#refused")).to_contain_text("There is no value for {{customer.phone}}.")
    page.keyboard.press("Enter")
    expect(page.locator("#say")).to_have_value("We call {{customer.phone}}.")
    page.keyboard.type("you")
    expect(page.locator("#say")).to_have_value("We call you.")
    page.keyboard.press("Enter")
    expect(page.locator("#chat")).to_contain_text("We call you.")
