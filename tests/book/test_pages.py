"""The staff's pages of the book."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from projects.models import Role, User
from tests.api.test_customers import EXAMPLE
from tests.book.conftest import ADA, Desk
from tests.conftest import Tenant
from tools.book.opening import Opening
from tools.book.pages.board import board_of
from tools.book.search import config_of
from tools.book.wishes import Wish
from tools.models import Booking, BookingState, Resource


@pytest.fixture
def owner(tenant: Tenant) -> Client:
    client = Client()
    client.force_login(tenant.owner)
    return client


@pytest.fixture
def booking(desk: Desk) -> Booking:
    """For four, at 19:00 in Rome two weeks from now."""
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
    for words in ("1 on ", "4 people", "Ada Lovelace", "By the window", booking.code, 'scope="row"'):
        assert words in text


def test_every_row_of_the_board_is_as_wide_as_its_hours(desk: Desk, booking: Booking) -> None:
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


def test_an_empty_book_says_what_to_do_first(owner: Client, desk: Desk) -> None:
    desk.stock()
    text = owner.get(address(desk, "bookings")).content.decode()
    assert "First, what can be booked?" in text
    assert address(desk, "resources") in text


def test_staff_books(owner: Client, desk: Desk, booking: Booking) -> None:
    form = {"date": day_of(booking), "time": "12:00", "party_size": "2", "name": "Grace", "phone": "", "resource": ""}
    text = owner.post(address(desk, "bookings"), form, follow=True).content.decode()
    assert "Booked: Grace, " in text
    with desk.tenant.tx():
        assert Booking.objects.get(name="Grace").resource.name == "Two"


def test_what_cant_be_booked_is_said_in_the_form(owner: Client, desk: Desk, booking: Booking) -> None:
    form = {"date": day_of(booking), "time": "19:00", "party_size": "4", "name": "Grace"}
    text = owner.post(address(desk, "bookings"), form).content.decode()
    assert "no table for 4 is free" in text
    assert 'value="Grace"' in text
    assert "Choose a time." in owner.post(address(desk, "bookings"), {"date": day_of(booking)}).content.decode()


def test_a_number_that_is_none_is_said_beside_it(owner: Client, desk: Desk, booking: Booking) -> None:
    form = {"date": day_of(booking), "time": "12:00", "party_size": "2", "name": "Grace", "phone": "by e-mail"}
    text = owner.post(address(desk, "bookings"), form).content.decode()
    assert f"by e-mail is not a phone number. {EXAMPLE}" in text
    assert 'value="by e-mail"' in text
    owner.post(address(desk, "bookings"), {**form, "phone": "06 555 0142"})
    with desk.tenant.tx():
        assert Booking.objects.get(name="Grace").phone == "+39065550142"


def test_a_booking_is_found_by_name_phone_or_code(owner: Client, desk: Desk, booking: Booking) -> None:
    for words in ("lovelace", "06 555 0199", booking.code.lower()):
        assert booking.code in owner.get(address(desk, "bookings"), {"q": words}).content.decode()
    assert "No booking has this name" in owner.get(address(desk, "bookings"), {"q": "nobody\x00"}).content.decode()


def test_one_booking_is_shown_whole(owner: Client, desk: Desk, booking: Booking) -> None:
    text = owner.get(address(desk, "booking", booking.pk)).content.decode()
    for words in ("Ada Lovelace", "Four", booking.code, "+39065550199", ADA.email, "By the window", "/b/"):
        assert words in text


def test_staff_moves_a_booking(owner: Client, desk: Desk, booking: Booking) -> None:
    form = {"date": day_of(booking), "time": "20:00", "party_size": "3", "resource": str(booking.resource_id)}
    text = owner.post(address(desk, "booking", booking.pk), form, follow=True).content.decode()
    assert "Changed: Ada Lovelace, " in text
    with desk.tenant.tx():
        assert Booking.objects.get().starts_at == booking.starts_at + timedelta(hours=1)


def test_staff_cancels_a_booking(owner: Client, desk: Desk, booking: Booking) -> None:
    text = owner.post(address(desk, "booking_cancel", booking.pk), follow=True).content.decode()
    assert "The booking is cancelled, and its place is free." in text
    with desk.tenant.tx():
        assert (Booking.objects.get().state, Booking.objects.get().cancelled_by) == (BookingState.CANCELLED, "staff")


def test_a_viewer_sees_and_changes_nothing(viewer: User, desk: Desk, booking: Booking) -> None:
    assert viewer.pk
    client = Client()
    client.force_login(viewer)
    text = client.get(address(desk, "bookings"), {"day": day_of(booking)}).content.decode()
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


def test_several_of_a_kind_are_made_at_once(owner: Client, desk: Desk) -> None:
    form = {"name": "Booth", "kind": "table", "count": "3", "capacity": "6", "slot_minutes": "120"}
    text = owner.post(address(desk, "resources"), form, follow=True).content.decode()
    assert "New: Booth 1, Booth 2 and Booth 3." in text
    assert resource(desk, "Booth 3").capacity == 6


def test_of_several_with_a_taken_name_none_is_made(owner: Client, desk: Desk) -> None:
    desk.stock(("Booth 2", "table", 2, 90))
    form = {"name": "Booth", "kind": "table", "count": "3", "capacity": "6", "slot_minutes": "120"}
    assert "There is a resource of this name already" in owner.post(address(desk, "resources"), form).content.decode()
    with desk.tenant.tx():
        assert Resource.objects.count() == 1


def test_a_resource_is_changed_in_its_row(owner: Client, desk: Desk) -> None:
    assert "Two is saved." in saved(owner, desk, "Two", capacity="3")
    assert resource(desk, "Two").capacity == 3
    assert "There is a resource of this name already" in saved(owner, desk, "Two", name="Four")
    assert "Minutes: Ensure this value is greater than or equal to 5." in saved(owner, desk, "Two", slot_minutes="1")


def test_a_resource_is_removed_unless_it_was_booked(owner: Client, desk: Desk, booking: Booking) -> None:
    def remove(pk: UUID) -> str:
        return owner.post(address(desk, "resource_remove", pk), follow=True).content.decode()

    assert "Four has bookings, which would be lost." in remove(booking.resource_id)
    assert "Two is removed." in remove(resource(desk, "Two").pk)
