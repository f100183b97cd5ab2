"""The dashboard of a busy project: it is there at once, and its figures come into it without a jump."""

from __future__ import annotations

import pytest
from django.db import connection
from playwright.sync_api import Page, Route, expect

from console.dashboard.metrics_cache import BUSY
from tests.browser.axe import findings
from tests.browser.conftest import App, open_page
from tests.console.pages.conftest import talk

pytestmark = pytest.mark.browser

# The same message many times, now.
MORE = """
insert into conversations_message
select (jsonb_populate_record(m, jsonb_build_object('id', uuidv7(), 'seq', 1 + i))).*
from conversations_message m, generate_series(1, %s) i where m.conversation_id = %s
"""
PLACES = "[...document.querySelectorAll('#stats, .mg-panel')].map((part) => part.getBoundingClientRect().top)"


def make_busy(app: App) -> None:
    row = talk(app.tenant, "Hi")
    with app.tenant.tx(), connection.cursor() as cursor:
        cursor.execute(MORE, [BUSY, row.pk])


def is_visit(route: Route) -> bool:
    return route.request.is_navigation_request()


def test_a_busy_projects_figures_come_into_its_page_without_a_jump(page: Page, app: App) -> None:
    make_busy(app)
    held: list[Route] = []
    address = f"{app.home}/"
    page.route(address, lambda route: route.continue_() if is_visit(route) else held.append(route))
    open_page(page, app, "")
    expect(page.get_by_role("status")).to_have_text("Loading the last 7 days")
    places = page.evaluate(PLACES)
    assert findings(page) == []
    # What is held goes on as well.
    page.unroute(address)
    expect(page.locator("#stats")).to_contain_text(f"{BUSY + 1:,} messages")
    expect(page.get_by_role("status")).to_contain_text("as of")
    expect(page.locator("#main [aria-busy]")).to_have_count(0)
    assert page.evaluate(PLACES) == places
