"""Staff pages for bookings and resources."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from console.bookings.board import Board, board_of
from console.bookings.days import days_around
from projects.models import Role, User
from tests.api.test_customers import EXAMPLE
from tests.concurrent import meanwhile
from tests.conftest import Tenant
from tests.tools.bookings.conftest import ADA, NOW, Desk, rome
from tools.models import Booking, BookingState, Resource
from tools.services.bookings.booking_request import Wish
from tools.services.bookings.opening import Opening
from tools.services.bookings.search import config_of


@pytest.fixture
def owner(tenant: Tenant) -> Client:
    client = Client()
    client.force_login(tenant.owner)
    return client


@pytest.fixture
def booking(desk: Desk) -> Booking:
    """A table for four at 19:00 in Rome, two weeks from now."""
    desk.configure(hours={}, holidays=[])
    with desk.tenant.tx():
        opening = Opening(config_of(desk.project))
    local = opening.local(timezone.now() + timedelta(days=14)).replace(hour=19, minute=0, second=0, microsecond=0)
    return desk.book(local, now=timezone.now(), wish=Wish(4), notes="By the window")


def address(desk: Desk, name: str, *args: object) -> str:
    return reverse(name, args=[desk.tenant.project.slug, *args])


def day_of(booking: Booking) -> str:
    return booking.starts_at.date().isoformat()


def test_a_day_shows_its_bookings_by_resource(owner: Client, desk: Desk, booking: Booking) -> None:
    text = owner.get(address(desk, "bookings"), {"day": day_of(booking)}).content.decode()
    for words in ("1 booking on ", "4 people", "Ada Lovelace", "By the window", booking.code, 'scope="row"'):
        assert words in text


def board(desk: Desk, day: date, *, now: datetime, bookings: list[Booking] | None = None) -> Board:
    with desk.tenant.tx():
        opening, resources = Opening(config_of(desk.project)), list(Resource.objects.all())
        made = board_of(day, opening=opening, resources=resources, bookings=bookings or [], now=now)
    assert made is not None
    return made


def test_only_future_open_cells_can_be_booked(desk: Desk) -> None:
    """From the current hour until closing."""
    desk.configure(hours={"fri": [["12:00", "14:00"], ["18:00", "20:00"]]}, holidays=[])
    shown = board(desk, rome(27, "12:00").date(), now=rome(27, "13:30"))
    cells = shown.rows[0].cells
    assert [cell.at for cell in cells if cell.at] == ["18:00", "19:00"]
    assert sum(cell.columns for cell in cells if cell.time == "closed") == 4 * 4
    assert [hour.text for hour in shown.hours] == [f"{hour}:00" for hour in range(12, 20)]


def test_a_partial_quarter_counts_as_taken(desk: Desk) -> None:
    """A cell shown as free is free."""
    desk.configure(hours={}, holidays=[])
    desk.stock(("Two", "table", 2, 50))
    late, early = desk.book(rome(27, "19:00")), desk.book(rome(27, "18:00"))
    shown = board(desk, rome(27, "18:00").date(), now=NOW, bookings=[late, early])
    taken = [(cell.time, cell.columns) for cell in shown.rows[0].cells if cell.booking]
    assert taken == [("18:00", 4), ("19:00", 4)]


def test_a_booking_past_midnight_appears_on_both_days(owner: Client, desk: Desk, booking: Booking) -> None:
    """A booking until 1:00 also appears on the day that starts at midnight."""
    late = desk.book(
        booking.starts_at.astimezone(ZoneInfo("Europe/Rome")).replace(hour=23, minute=30), now=timezone.now()
    )
    for day in (booking.starts_at.date(), booking.starts_at.date() + timedelta(days=1)):
        assert late.code in owner.get(address(desk, "bookings"), {"day": day.isoformat()}).content.decode()


def test_a_canceled_booking_is_listed_and_frees_its_resource(owner: Client, desk: Desk, booking: Booking) -> None:
    owner.post(address(desk, "booking_cancel", booking.pk))
    text = owner.get(address(desk, "bookings"), {"day": day_of(booking)}).content.decode()
    assert (booking.code in text, "bk-taken" in text, "0 bookings on " in text) == (True, False, True)
    assert 'id="change-title"' not in owner.get(address(desk, "booking", booking.pk)).content.decode()


def test_an_inactive_resource_is_shown_while_booked_but_not_offered(
    owner: Client, desk: Desk, booking: Booking
) -> None:
    with desk.tenant.tx():
        Resource.objects.update(is_active=False)
        Resource.objects.filter(name="Two").update(is_active=True)
    text = owner.get(address(desk, "bookings"), {"day": day_of(booking)}).content.decode()
    assert ('<span class="ell">Four</span>' in text, '<span class="ell">Dr. Weber</span>' in text) == (True, False)
    form = {"date": day_of(booking), "time": "12:00", "party_size": "2", "resource": str(booking.resource_id)}
    assert "Select a valid choice." in owner.post(address(desk, "bookings"), form).content.decode()


def test_every_row_of_the_board_spans_its_hours(desk: Desk, booking: Booking) -> None:
    with desk.tenant.tx():
        opening, resources = Opening(config_of(desk.project)), list(Resource.objects.all())
        board = board_of(
            booking.starts_at.date(), opening=opening, resources=resources, bookings=[booking], now=timezone.now()
        )
    assert board is not None
    width = sum(hour.columns for hour in board.hours)
    assert {sum(cell.columns for cell in row.cells) for row in board.rows} == {width}
    (taken,) = [cell for row in board.rows for cell in row.cells if cell.booking]
    assert (taken.time, taken.columns) == ("19:00", 6)


def test_a_project_without_resources_shows_the_first_step(owner: Client, desk: Desk) -> None:
    desk.stock()
    text = owner.get(address(desk, "bookings")).content.decode()
    assert "Add what can be booked" in text
    assert address(desk, "resources") in text


def test_staff_create_a_booking(owner: Client, desk: Desk, booking: Booking) -> None:
    form = {
        "date": day_of(booking),
        "time": "12:00",
        "party_size": "2",
        "name": "Grace",
        "phone": "",
        "resource": "",
        "notes": "A high chair",
    }
    text = owner.post(address(desk, "bookings"), form, follow=True).content.decode()
    assert "Booked: Grace, " in text
    with desk.tenant.tx():
        made = Booking.objects.select_related("resource").get(name="Grace")
    assert (made.resource.name, made.notes) == ("Two", "A high chair")


def test_an_unavailable_slot_is_reported_in_the_form(owner: Client, desk: Desk, booking: Booking) -> None:
    form = {"date": day_of(booking), "time": "19:00", "party_size": "4", "name": "Grace"}
    text = owner.post(address(desk, "bookings"), form).content.decode()
    assert "no table for 4 is free" in text
    assert 'value="Grace"' in text
    assert "Choose a time." in owner.post(address(desk, "bookings"), {"date": day_of(booking)}).content.decode()


def test_a_time_skipped_by_dst_is_refused_at_its_field(owner: Client, desk: Desk) -> None:
    with desk.tenant.tx():
        opening, day = Opening(config_of(desk.project)), timezone.now().date()
    while opening.moment(datetime(day.year, day.month, day.day, 2, 30)) is not None:  # noqa: DTZ001 - local
        day += timedelta(days=1)
    form = {"date": day.isoformat(), "time": "02:30", "party_size": "2"}
    text = owner.post(address(desk, "bookings"), form).content.decode()
    assert "This time doesn’t exist on that day" in text


def test_the_customers_day_strip_starts_today(desk: Desk) -> None:
    """Past days are not offered."""
    with desk.tenant.tx():
        opening = Opening(config_of(desk.project))
    today = NOW.date()
    near = days_around(today + timedelta(days=1), opening=opening, today=today)
    assert (near.days[0].day, near.earlier, len(near.days)) == (today, "", 14)
    far = days_around(today + timedelta(days=9), opening=opening, today=today)
    assert (far.days[0].day, far.earlier) == (today + timedelta(days=6), today.isoformat())


def test_an_invalid_phone_number_is_refused_at_its_field(owner: Client, desk: Desk, booking: Booking) -> None:
    form = {"date": day_of(booking), "time": "12:00", "party_size": "2", "name": "Grace", "phone": "by e-mail"}
    text = owner.post(address(desk, "bookings"), form).content.decode()
    assert f"by e-mail is not a phone number. {EXAMPLE}" in text
    assert 'value="by e-mail"' in text
    owner.post(address(desk, "bookings"), {**form, "phone": "06 555 0142"})
    with desk.tenant.tx():
        assert Booking.objects.get(name="Grace").phone == "+39065550142"


def test_bookings_are_found_by_name_phone_or_code(owner: Client, desk: Desk, booking: Booking) -> None:
    for words in ("lovelace", "06 555 0199", booking.code.lower(), "ADA@example.com"):
        assert booking.code in owner.get(address(desk, "bookings"), {"q": words}).content.decode()
    assert "No bookings found" in owner.get(address(desk, "bookings"), {"q": "nobody\x00"}).content.decode()


def test_search_results_are_sorted_latest_first(owner: Client, desk: Desk, booking: Booking) -> None:
    later = desk.book(booking.starts_at + timedelta(days=1), now=timezone.now())
    text = owner.get(address(desk, "bookings"), {"q": "lovelace"}).content.decode()
    assert text.index(later.code) < text.index(booking.code)


def test_a_booking_page_shows_every_detail(owner: Client, desk: Desk, booking: Booking) -> None:
    text = owner.get(address(desk, "booking", booking.pk)).content.decode()
    for words in ("Ada Lovelace", "Four", booking.code, "+39065550199", ADA.email, "By the window", "/b/"):
        assert words in text


def test_staff_move_a_booking(owner: Client, desk: Desk, booking: Booking) -> None:
    form = {"date": day_of(booking), "time": "20:00", "party_size": "3", "resource": str(booking.resource_id)}
    text = owner.post(address(desk, "booking", booking.pk), form, follow=True).content.decode()
    assert "Booking moved: Ada Lovelace, " in text
    with desk.tenant.tx():
        assert Booking.objects.get().starts_at == booking.starts_at + timedelta(hours=1)


def test_staff_cancel_a_booking(owner: Client, desk: Desk, booking: Booking) -> None:
    text = owner.post(address(desk, "booking_cancel", booking.pk), follow=True).content.decode()
    assert "Booking canceled." in text
    with desk.tenant.tx():
        assert (Booking.objects.get().state, Booking.objects.get().cancelled_by) == (BookingState.CANCELLED, "staff")


def test_started_bookings_cannot_be_changed_and_ended_ones_are_past(owner: Client, desk: Desk) -> None:
    desk.configure(hours={}, holidays=[])
    begun = desk.book(timezone.now() - timedelta(minutes=5), now=timezone.now() - timedelta(hours=1))
    over = desk.book(timezone.now() - timedelta(hours=4), now=timezone.now() - timedelta(hours=5))
    assert "Past</span>" in owner.get(address(desk, "booking", over.pk)).content.decode()
    text = owner.post(address(desk, "booking_cancel", begun.pk), follow=True).content.decode()
    assert "The booking has begun already, so it can&#x27;t be cancelled." in text
    assert 'id="change-title"' not in text


def test_viewers_see_bookings_read_only(viewer: User, desk: Desk, booking: Booking) -> None:
    assert viewer.pk
    client = Client()
    client.force_login(viewer)
    text = client.get(address(desk, "bookings"), {"day": day_of(booking), "new": "1"}).content.decode()
    assert "Ada Lovelace" in text
    assert Role.VIEWER in text
    assert "New booking" not in text
    assert client.post(address(desk, "booking", booking.pk), {}).status_code == 403


def resource(desk: Desk, name: str) -> Resource:
    with desk.tenant.tx():
        return Resource.objects.get(name=name)


def saved(owner: Client, desk: Desk, which: str, **changes: Any) -> str:
    one = resource(desk, which)
    form = {"name": one.name, "kind": one.kind, "capacity": one.capacity, "slot_minutes": one.slot_minutes}
    path = address(desk, "resource_change", one.pk)
    return owner.post(path, {**form, "is_active": "on", **changes}, follow=True).content.decode()


def test_several_numbered_resources_are_created_at_once(owner: Client, desk: Desk) -> None:
    form = {"name": "Booth", "kind": "table", "count": "3", "capacity": "6", "slot_minutes": "120"}
    text = owner.post(address(desk, "resources"), form, follow=True).content.decode()
    assert "Added Booth 1, Booth 2 and Booth 3." in text
    assert resource(desk, "Booth 3").capacity == 6


def test_a_single_resource_is_not_numbered(owner: Client, desk: Desk) -> None:
    form = {"name": "Terrace", "kind": "table", "count": "1", "capacity": "6", "slot_minutes": "120"}
    assert "Added Terrace." in owner.post(address(desk, "resources"), form, follow=True).content.decode()


def test_a_taken_name_creates_none_of_several_resources(owner: Client, desk: Desk) -> None:
    desk.stock(("Booth 2", "table", 2, 90))
    form = {"name": "Booth", "kind": "table", "count": "3", "capacity": "6", "slot_minutes": "120"}
    assert "There is a resource of this name already" in owner.post(address(desk, "resources"), form).content.decode()
    with desk.tenant.tx():
        assert Resource.objects.count() == 1


def test_a_resource_is_changed_in_its_row(owner: Client, desk: Desk) -> None:
    assert "Two saved." in saved(owner, desk, "Two", capacity="3")
    assert resource(desk, "Two").capacity == 3
    assert "There is a resource of this name already" in saved(owner, desk, "Two", name="Four")
    assert "Minutes: Ensure this value is greater than or equal to 5." in saved(owner, desk, "Two", slot_minutes="1")


def test_only_resources_without_bookings_can_be_removed(owner: Client, desk: Desk, booking: Booking) -> None:
    def remove(pk: UUID) -> str:
        return owner.post(address(desk, "resource_remove", pk), follow=True).content.decode()

    assert "Four has bookings, which would be lost." in remove(booking.resource_id)
    assert "Two removed." in remove(resource(desk, "Two").pk)


@pytest.fixture
def two(desk: Desk) -> Resource:
    with desk.tenant.tx():
        return Resource.objects.get(name="Two")


def remove_meanwhile(desk: Desk, resource: Resource) -> Any:
    def remove() -> None:
        with desk.tenant.tx():
            Resource.objects.filter(pk=resource.pk).delete()

    return meanwhile('FROM "tools_resource"', remove)


def test_removing_a_resource_twice_succeeds(owner: Client, desk: Desk, two: Resource) -> None:
    """After a double click, or a simultaneous one by a colleague."""
    with remove_meanwhile(desk, two):
        response = owner.post(address(desk, "resource_remove", two.pk), follow=True)
    assert (response.status_code, "Two removed." in response.content.decode()) == (200, True)


def test_a_concurrently_removed_resource_is_not_found(owner: Client, api: Client, desk: Desk, two: Resource) -> None:
    """On the page and in the API."""
    form = {"name": "Two", "kind": "table", "capacity": 3, "slot_minutes": 90}
    with remove_meanwhile(desk, two):
        assert owner.post(address(desk, "resource_change", two.pk), form).status_code == 404
    with desk.tenant.tx():
        two.save(force_insert=True)
    with remove_meanwhile(desk, two):
        path = f"/api/v1/resources/{two.pk}"
        assert api.patch(path, {"capacity": 3}, content_type="application/json").status_code == 404
