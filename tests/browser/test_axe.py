"""axe finds nothing grave: on the widget in all its states, and on the pages of the product."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import everywhere, findings
from tests.browser.conftest import DESK, PHONE, App, Complaints, open_page, sign_in
from tests.browser.shop import Shop
from tests.browser.test_widget import launcher, log, placed, say, shop, store
from tests.conversations.widget.conftest import Placed
from tests.screens.furnish import furnish
from tests.screens.routes import CONSOLE, LEADS_TO, OTHERS, SCREENS, SIGNED_IN, SIGNED_OUT, VIEWS, address_of
from tests.tenancy.permission_table import API
from tests.tenancy.test_permissions import ADMIN, routes

pytestmark = pytest.mark.browser

__all__ = ["placed", "shop"]

PARTS = 8
# The pages of tools are looked at in test_admin_tools.py.
ADMIN_PAGES = ("projects/attribute/", "conversations/conversation/")
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


def test_every_url_is_a_screen_or_named_among_the_others() -> None:
    """A new page is looked at by the tests below, or it is named with the reason why not."""
    urls = {route for route in routes() if not route.startswith((API, ADMIN))}
    assert urls == {route for route in {*SCREENS, *OTHERS} if not route.startswith(API)}


PALE_ON = """<html lang="en"><title>Pale</title><style>
  .pale {{ color: #aaa; background: #fff }}
  @media not ({query}) {{ .pale {{ {otherwise} }} }}
</style><main><h1>Pale</h1><p class="pale">Pale</p></main></html>"""


@pytest.mark.parametrize(
    ("query", "otherwise", "where"),
    [
        ("prefers-color-scheme: dark", "color: #000", "dark"),
        ("max-width: 600px", "display: none", "phone"),
        ("min-width: 0", "", "light"),
    ],
)
def test_pale_words_are_found_wherever_they_are_shown(query: str, otherwise: str, where: str, page: Page) -> None:
    page.goto("about:blank")
    page.set_content(PALE_ON.format(query=query, otherwise=otherwise))
    found = everywhere(page)
    assert found
    assert found[0].startswith(f"{where}: color-contrast")


def look(page: Page, app: App, routes: Iterable[str], ids: dict[str, Any]) -> dict[str, list[str]]:
    """The findings by address, or where a redirect leads instead."""
    found: dict[str, list[str]] = {}
    for route in routes:
        address = f"{app.base_url}/{address_of(route, ids)}"
        page.goto(address)
        end = f"{app.base_url}/{LEADS_TO[route]}" if route in LEADS_TO else address
        found[route] = everywhere(page) if page.url == end else [f"leads to {page.url}"]
    return {route: lines for route, lines in found.items() if lines}


@pytest.mark.parametrize("part", range(PARTS))
def test_every_screen_of_members_is_accessible(part: int, page: Page, app: App) -> None:
    """With rows on each of them."""
    ids = furnish(app.tenant)
    sign_in(page, app, is_recent=True)
    assert look(page, app, (*CONSOLE, *VIEWS, *SIGNED_IN)[part::PARTS], ids) == {}


def test_every_screen_of_strangers_is_accessible(page: Page, app: App, complaints: Complaints) -> None:
    complaints.provoke("status of 410")
    assert look(page, app, SIGNED_OUT, furnish(app.tenant)) == {}


@pytest.mark.parametrize("address", ADMIN_PAGES)
def test_the_admin_is_accessible(address: str, page: Page, app: App) -> None:
    """A list that people change and a ledger; every model has pages of these kinds."""
    furnish(app.tenant)
    sign_in(page, app)
    page.goto(f"{app.base_url}/admin/{address}")
    assert everywhere(page) == []


def test_the_api_docs_are_accessible(page: Page, app: App) -> None:
    """For everybody, and in the shell for members."""
    found: list[str] = []
    address = f"{app.base_url}/api/v1/docs/"
    page.goto(address)
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    found += findings(page)
    open_page(page, app, "keys")
    page.get_by_role("link", name="API docs").first.click()
    page.locator("summary", has_text="Create a customer message").click()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += findings(page)
    page.set_viewport_size(PHONE)
    found += findings(page)
    page.get_by_role("button", name="Open navigation").click()
    page.get_by_role("link", name="Home").first.click()
    expect(page).to_have_url(f"{app.home}/")
    assert found == []
