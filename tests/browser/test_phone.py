"""Every page of the console on a phone: nothing is cut off, the bar at the bottom, a Save that stays in reach."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESK, App, open_page
from tests.browser.talk import converse
from tests.tenancy.permission_table import PAGES

pytestmark = pytest.mark.browser

HERE = Path(__file__).parent
CLIPPED = (HERE / "clipped.js").read_text()
HIDDEN_SAVES = (HERE / "hidden_saves.js").read_text()
PROJECT = "p/<slug:project_slug>/"
# Those without an object's id. Exports and the parts of a page have no screen of their own.
PARTS = ("todos/news", "palette")
ADDRESSES = [
    page.route.removeprefix(PROJECT)
    for page in PAGES
    if page.route.startswith(PROJECT) and page.status == 200 and "<" not in page.route.removeprefix(PROJECT)
    if not page.route.endswith((".csv", "/export", *PARTS))
]
WIDTHS = (390, 360)
LABELS = ["Home", "Inbox", "Playground", "Todos", "Promises"]


def clipped(page: Page) -> list[str]:
    """The elements that are cut off at each width."""
    found: list[str] = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        found += [f"{width}: {line}" for line in page.evaluate(CLIPPED)]
    return found


def test_nothing_is_cut_off_on_a_phone(page: Page, app: App) -> None:
    """With a conversation in which something was promised and done, and with a draft of the settings."""
    conversation = converse(app, "Could you text me the details?", name="Giulia", phone="+39 347 555 0142")
    open_page(page, app, "agent")
    page.get_by_label("Agent name").fill("Bruno, who speaks for the whole house")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Draft saved")).to_be_visible()
    found: dict[str, list[str]] = {}
    for address in (*ADDRESSES, f"inbox/{conversation}", f"playground?conversation={conversation}"):
        page.set_viewport_size({"width": WIDTHS[0], "height": 844})
        open_page(page, app, address)
        found[address] = clipped(page) + page.evaluate(HIDDEN_SAVES)
    for path in ("/account/", "/account/password/change/", "/account/2fa/", "/api/v1/docs/"):
        page.goto(app.base_url + path)
        found[path] = clipped(page)
    page.set_viewport_size(DESK)
    assert {address: lines for address, lines in found.items() if lines} == {}


def test_the_bar_at_the_bottom_leads_to_the_five_pages_of_the_day(page: Page, app: App) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, app, "todos")
    bar = page.get_by_role("navigation", name="Main pages")
    assert [link.inner_text().split("\n")[0] for link in bar.get_by_role("link").all()] == LABELS
    expect(bar.get_by_role("link", name="Todos")).to_have_attribute("aria-current", "page")
    bar.get_by_role("link", name="Promises").click()
    expect(page.get_by_role("heading", name="Promises", level=1)).to_be_visible()
    page.set_viewport_size(DESK)
    expect(bar).to_be_hidden()
