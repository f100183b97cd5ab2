"""The customer's page of a booking, on a phone: found by its link, moved, and cancelled."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone
from playwright.sync_api import Page, expect

from projects.models import Project
from tests.browser.conftest import App
from tests.conftest import Tenant
from tools.book.links import make_token
from tools.book.search import new_search
from tools.book.services import Guest, book
from tools.book.wishes import Wish
from tools.models import Booking, BookingState


def test_a_customer_moves_and_cancels_their_booking(app: App, tenant: Tenant, phone_page: Page) -> None:
    booking = _booking(tenant)
    page = phone_page
    page.goto(f"{app.base_url}/b/{make_token(booking)}")
    expect(page.get_by_text(booking.code)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.get_by_label("People").select_option("2")
    page.wait_for_url("**people=2**")
    time = page.get_by_role("radio").last
    moved_to = time.get_attribute("value")
    time.check()
    page.get_by_role("button", name="Move the booking").click()
    expect(page.get_by_role("status")).to_contain_text("Your booking is moved")
    assert _now(tenant, booking).starts_at == datetime.fromisoformat(moved_to or "")

    page.get_by_text("Cancel the booking").click()
    page.get_by_role("button", name="Yes, cancel it").click()
    expect(page.get_by_text("It was cancelled by you")).to_be_visible()
    assert _now(tenant, booking).state == BookingState.CANCELLED


def _booking(tenant: Tenant) -> Booking:
    """For four, at the first free time of the first open day after tomorrow."""
    now = timezone.now()
    with tenant.tx():
        project = Project.objects.select_related("agent_version").get(pk=tenant.project.pk)
        search = new_search(project, Wish(4), now=now)
        day = next(search.opening.open_days(search.today + timedelta(days=1), within=20))
        return book(project, Wish(4), starts_at=search.starts_of(day)[0], guest=Guest("Ada"), now=now)


def _now(tenant: Tenant, booking: Booking) -> Booking:
    with tenant.tx():
        return Booking.objects.get(pk=booking.pk)
