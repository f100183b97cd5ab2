"""axe finds nothing grave: on the widget in all its states, and on the pages of the product."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.conftest import DESK, PHONE, App, open_page
from tests.browser.shop import Shop
from tests.browser.talk import converse
from tests.browser.test_widget import launcher, log, placed, say, shop, store
from tests.conversations.widget.conftest import Placed

pytestmark = pytest.mark.browser

__all__ = ["placed", "shop"]

PAGES = (
    "",
    "playground",
    "inbox",
    "inbox?view=all",
    "inbox?view=tickets",
    "inbox/tickets/new",
    "promises",
    "todos",
    "agent",
    "agent/attributes",
    "agent/limits",
    "tools",
    "tools/custom/new",
    "widget",
)
ORDER = {"number": "2214", "status": "processing", "items": [{"name": "Olio", "quantity": 2}], "tracking": []}


def test_the_widget_is_accessible(page: Page, app: App, shop: Shop, placed: Placed) -> None:
    """Closed, with every block and the form of a lead, light and dark, at a desk and on a phone."""
    app.model.script("reply", text="Here you are: https://example.com/returns.")
    found: list[str] = []
    page.goto(shop.address(placed.key))
    expect(launcher(page)).to_be_visible()
    found += findings(page)
    launcher(page).click()
    say(page, "Hello")
    expect(log(page)).to_contain_text("Here you are")
    store(app, "Two.", [{"type": "order_list", "orders": [ORDER]}, {"type": "escalation_button", "escalation": "x"}])
    page.get_by_role("button", name="Talk to a person").click()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += findings(page)
    page.set_viewport_size(PHONE)
    found += findings(page)
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    assert found == []


def test_the_console_is_accessible(page: Page, app: App) -> None:
    """With a conversation in which something was promised and done."""
    conversation = converse(app, "Could you text me the details?", name="Giulia", phone="+39 347 555 0142")
    found: list[str] = []
    for address in (*PAGES, f"inbox/{conversation}", f"playground?conversation={conversation}"):
        open_page(page, app, address)
        found += [f"/{address}: {line}" for line in findings(page)]
    assert found == []


def test_the_api_docs_are_accessible(page: Page, app: App) -> None:
    """It had one palette of its own, too pale. How its parts are built is another's; what can be read of them is ours."""
    found: list[str] = []
    grounds = set()
    page.goto(f"{app.base_url}/api/v1/docs/")
    page.locator("#operations-conversations-messages_create .opblock-summary-control").click()
    page.get_by_role("button", name="Try it out").click()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += findings(page, "color-contrast")
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert (found, len(grounds)) == ([], 2)
