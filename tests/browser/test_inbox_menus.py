"""The inbox's menus for one conversation and for several, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from console.access import zone_of
from conversations.models import Conversation
from projects.models.key import Scope
from projects.models.permissions import enter_project
from tests.browser.conftest import App, open_page
from tests.console.pages.conftest import talk
from tests.processes import until

pytestmark = pytest.mark.browser


@pytest.fixture
def far_away(page: Page) -> Iterator[None]:
    """A browser whose clock is in a zone other than the business's."""
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Kathmandu"})
    yield
    session.send("Emulation.setTimezoneOverride", {"timezoneId": ""})
    session.detach()


def evening(app: App) -> datetime:
    """Half past six, in two days, where the business is."""
    with app.tenant.tx():
        zone = zone_of(enter_project(app.tenant.owner, app.tenant.project.slug, verb=Scope.READ))
    day = timezone.now().astimezone(ZoneInfo(zone)) + timedelta(days=2)
    return day.replace(hour=18, minute=30, second=0, microsecond=0)


def snoozed_until(app: App) -> set[datetime | None]:
    with app.tenant.tx():
        return set(Conversation.objects.values_list("snoozed_until", flat=True))


def snooze_by_keys(page: Page, at: datetime) -> None:
    page.keyboard.press("z")
    page.locator("#snooze-at").fill(f"{at:%Y-%m-%dT%H:%M}")
    page.locator("#snooze-at").press("Enter")


def test_enter_in_a_time_of_ones_own_snoozes_until_then(page: Page, app: App, far_away: None) -> None:
    row, at = talk(app.tenant, "Is the terrace open?", name="Guest", flag="look"), evening(app)
    open_page(page, app, f"inbox/{row.pk}")
    snooze_by_keys(page, at)
    until(lambda: snoozed_until(app) == {at}, what="the snooze")


def test_selected_conversations_are_snoozed_in_the_time_zone_of_the_business(
    page: Page, app: App, far_away: None
) -> None:
    for number in range(2):
        talk(app.tenant, "Hi", guest=f"guest-{number}", name=f"Guest {number}", flag="look")
    at = evening(app)
    open_page(page, app, "inbox")
    for _ in range(2):
        page.keyboard.press("j")
        page.keyboard.press("x")
    snooze_by_keys(page, at)
    expect(page.locator("#toasts")).to_contain_text("2 conversations snoozed.")
    assert snoozed_until(app) == {at}


def test_no_snooze_without_a_time_closes_the_menu(page: Page, app: App) -> None:
    talk(app.tenant, "Hi", name="Guest", flag="look")
    open_page(page, app, "inbox")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("z")
    menu = page.locator("#snooze-menu")
    menu.get_by_role("button", name="Snooze").click()
    expect(page.locator("#snooze-at")).to_be_focused()
    expect(menu).to_be_visible()
    assert snoozed_until(app) == {None}


def test_arrow_keys_right_after_the_key_of_a_menu_move_in_it(page: Page, app: App) -> None:
    row = talk(app.tenant, "Is the terrace open?", name="Guest", flag="look")
    open_page(page, app, f"inbox/{row.pk}")
    page.evaluate(
        """() => {
          const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          for (const key of ["z", "ArrowDown"]) press(key);
        }"""
    )
    expect(page.locator("#snooze-menu button[name=until]").nth(1)).to_be_focused()
