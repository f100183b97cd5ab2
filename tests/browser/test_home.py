"""The home page and the analytics: figures that come in without a jump, and charts for keyboard, touch and any width."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from playwright.sync_api import Locator, Page, Route, ViewportSize, expect

from conversations.analytics.figure_cache import BUSY
from conversations.handover.operators import take_over
from tests.browser.axe import findings
from tests.browser.conftest import PHONE, App, open_page
from tests.console.pages.conftest import add_promise, talk
from tools.models import PromiseState

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


def test_metrics_of_a_busy_project_load_without_a_layout_shift(page: Page, app: App) -> None:
    make_busy(app)
    held: list[Route] = []
    address = f"{app.home}/"
    page.route(address, lambda route: route.continue_() if is_visit(route) else held.append(route))
    open_page(page, app, "")
    expect(page.get_by_role("status")).to_have_text("Counting")
    places = page.evaluate(PLACES)
    assert findings(page) == []
    # What is held goes on as well.
    page.unroute(address)
    expect(page.locator("#stats")).to_contain_text(f"{BUSY + 1:,} messages")
    expect(page.get_by_role("status")).to_contain_text("As of")
    expect(page.locator("#main [aria-busy]")).to_have_count(0)
    assert page.evaluate(PLACES) == places


WIDE: ViewportSize = {"width": 1440, "height": 900}
WIDTHS: tuple[ViewportSize, ...] = (WIDE, {"width": 800, "height": 900}, PHONE)
TEXT_HEIGHT = "document.querySelector('.mg-chart text').getBoundingClientRect().height"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
TOUCH = """(column) => {
  const touch = (type) => column.dispatchEvent(
    new PointerEvent(type, { pointerType: "touch", bubbles: true, cancelable: true }));
  touch("pointerenter");
  touch("pointerdown");
  return touch("click");
}"""


def columns(page: Page) -> Locator:
    return page.locator("#volume-chart .ch-col")


def test_the_arrow_keys_show_a_days_values_and_enter_opens_its_list(page: Page, app: App) -> None:
    talk(app.tenant, "Today")
    talk(app.tenant, "Before", at=timezone.now() - timedelta(days=3), guest="other", name="Marta Riva")
    open_page(page, app, "")
    tip = page.locator("#volume-chart .ch-tip")
    columns(page).last.focus()
    expect(tip).to_contain_text("Chat1")
    page.keyboard.press("ArrowLeft")
    expect(tip).to_contain_text("Chat0")
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    expect(tip).to_contain_text("Chat1")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.locator("[data-row]")).to_have_count(1)
    expect(page.locator("[data-row]")).to_contain_text("Marta Riva")


def test_the_first_touch_of_a_bar_shows_its_values_and_the_second_opens_its_list(page: Page, app: App) -> None:
    talk(app.tenant, "Today")
    open_page(page, app, "")
    goes_on = columns(page).last.evaluate(TOUCH)
    expect(page.locator("#volume-chart .ch-tip")).to_contain_text("Chat1")
    assert goes_on is False
    assert columns(page).last.evaluate(TOUCH) is True


def test_the_text_of_a_chart_keeps_its_size_and_nothing_is_cut_off(page: Page, app: App) -> None:
    """At a desk, in half a window and on a phone. test_axe.py looks at the colors of the page; axe sees none of a drawing."""
    for hours in range(6):
        talk(app.tenant, "Hi", at=timezone.now() - timedelta(hours=hours))
    heights = set()
    for address in ("?days=1", "?days=30", "analytics", ""):
        open_page(page, app, address)
        for size in WIDTHS:
            page.set_viewport_size(size)
            heights.add(round(page.evaluate(TEXT_HEIGHT), 1))
            assert (address, page.evaluate(OVERFLOW)) == (address, 0)
    assert len(heights) == 1


def test_new_work_appears_live_with_the_inbox_count(page: Page, app: App) -> None:
    talk(app.tenant, "Hi")
    open_page(page, app, "")
    expect(page.locator("#needs-you")).to_contain_text("All clear")
    row = talk(app.tenant, "A person, now", guest="other", flag="asked for a person", name="Jonas Weber")
    add_promise(app.tenant, row, "I’ll call you back.", state=PromiseState.KEPT)
    expect(page.locator("#needs-you")).to_contain_text("Jonas Weber: asked for a person")
    expect(page.locator("#just-now")).to_contain_text("I’ll call you back.")
    expect(page.locator("#needs-you .mg-n")).to_have_text("1")


def test_a_figure_of_the_analytics_leads_to_its_conversations(page: Page, app: App) -> None:
    """From the total, and from a channel's line, to the list with as many rows."""
    talk(app.tenant, "Hi", name="Ada Lovelace")
    taken = talk(app.tenant, "A person, please", guest="other", name="Jonas Weber")
    with app.tenant.tx():
        take_over(taken.pk, by=app.tenant.owner)
    open_page(page, app, "analytics")
    page.locator(".an-stats").get_by_role("link", name="2", exact=True).first.click()
    expect(page.locator("[data-row]")).to_have_count(2)
    page.go_back()
    handed_over = (
        page.get_by_role("region", name="By channel").get_by_role("row", name="Chat").get_by_role("cell").nth(2)
    )
    handed_over.get_by_role("link").click()
    expect(page.locator("[data-row]")).to_have_count(1)
    expect(page.locator("[data-row]")).to_contain_text("Jonas Weber")


def test_a_range_of_the_wrong_order_is_refused_beside_its_field(page: Page, app: App) -> None:
    open_page(page, app, "analytics")
    today = timezone.now().date()
    page.get_by_label("to", exact=True).fill((today - timedelta(days=9)).isoformat())
    page.get_by_label("From").fill((today - timedelta(days=3)).isoformat())
    page.get_by_role("button", name="Show").click()
    assert page.get_by_label("to", exact=True).evaluate("field => field.matches(':focus:invalid')")
    page.get_by_label("to", exact=True).fill((today - timedelta(days=2)).isoformat())
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/analytics?since=*")


def test_a_figure_states_its_definition_on_focus(page: Page, app: App) -> None:
    talk(app.tenant, "Hi")
    open_page(page, app, "analytics")
    page.get_by_role("button", name="Resolved by the agent").first.focus()
    expect(page.get_by_role("tooltip")).to_contain_text("Finished conversations")
