"""The staff pages of bookings."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from console.bookings.board import Board, board_of
from console.bookings.days import days_around
from projects.models import Role, User
from tests.api.test_customers import EXAMPLE
from tests.concurrent import meanwhile
from tests.conftest import Tenant
from tests.tools.bookings.conftest import ADA, NOW, Bookings, rome
from tools.models import Booking, BookingState, Resource
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.opening import Opening
from tools.services.bookings.search import config_of


@pytest.fixture
def owner(tenant: Tenant) -> Client:
    client = Client()
    client.force_login(tenant.owner)
    return client


@pytest.fixture
def booking(bookings: Bookings) -> Booking:
    """A booking for four, at 19:00 in Rome two weeks from now."""
    bookings.configure(hours={}, holidays=[])
    with bookings.tenant.tx():
        opening = Opening(config_of(bookings.project))
    local = opening.local(timezone.now() + timedelta(days=14)).replace(hour=19, minute=0, second=0, microsecond=0)
    return bookings.book(local, now=timezone.now(), request=BookingRequest(4), notes="By the window")


def address(bookings: Bookings, name: str, *args: object) -> str:
    return reverse(name, args=[bookings.tenant.project.slug, *args])


def day_of(booking: Booking) -> str:
    return booking.starts_at.date().isoformat()


def test_a_day_shows_its_bookings_by_resource(owner: Client, bookings: Bookings, booking: Booking) -> None:
    text = owner.get(address(bookings, "bookings"), {"day": day_of(booking)}).content.decode()
    for words in ("1 booking on ", "4 people", "Ada Lovelace", "By the window", booking.code, 'scope="row"'):
        assert words in text


def board(bookings: Bookings, day: date, *, now: datetime, rows: list[Booking] | None = None) -> Board:
    with bookings.tenant.tx():
        opening, resources = Opening(config_of(bookings.project)), list(Resource.objects.all())
        made = board_of(day, opening=opening, resources=resources, bookings=rows or [], now=now)
    assert made is not None
    return made


def test_only_open_future_times_can_be_selected(bookings: Bookings) -> None:
    """From the current hour until closing time."""
    bookings.configure(hours={"fri": [["12:00", "14:00"], ["18:00", "20:00"]]}, holidays=[])
    shown = board(bookings, rome(27, "12:00").date(), now=rome(27, "13:30"))
    cells = shown.rows[0].cells
    assert [cell.at for cell in cells if cell.at] == ["18:00", "19:00"]
    assert sum(cell.columns for cell in cells if cell.time == "closed") == 4 * 4
    assert [hour.text for hour in shown.hours] == [f"{hour}:00" for hour in range(12, 20)]


def test_a_booking_blocks_the_quarter_hour_it_ends_in(bookings: Bookings) -> None:
    """Times that the board shows as free are free."""
    bookings.configure(hours={}, holidays=[])
    bookings.stock(("Two", "table", 2, 50))
    late, early = bookings.book(rome(27, "19:00")), bookings.book(rome(27, "18:00"))
    shown = board(bookings, rome(27, "18:00").date(), now=NOW, rows=[late, early])
    taken = [(cell.time, cell.columns) for cell in shown.rows[0].cells if cell.booking]
    assert taken == [("18:00", 4), ("19:00", 4)]


def test_a_booking_past_midnight_is_shown_on_both_days(owner: Client, bookings: Bookings, booking: Booking) -> None:
    """A guest who stays until one also appears on the day that begins at midnight."""
    late = bookings.book(
        booking.starts_at.astimezone(ZoneInfo("Europe/Rome")).replace(hour=23, minute=30), now=timezone.now()
    )
    for day in (booking.starts_at.date(), booking.starts_at.date() + timedelta(days=1)):
        assert late.code in owner.get(address(bookings, "bookings"), {"day": day.isoformat()}).content.decode()


def test_a_canceled_booking_is_listed_but_blocks_nothing(owner: Client, bookings: Bookings, booking: Booking) -> None:
    owner.post(address(bookings, "booking_cancel", booking.pk))
    text = owner.get(address(bookings, "bookings"), {"day": day_of(booking)}).content.decode()
    assert (booking.code in text, "bk-taken" in text, "0 bookings on " in text) == (True, False, True)
    assert 'id="change-title"' not in owner.get(address(bookings, "booking", booking.pk)).content.decode()


def test_an_inactive_resource_is_shown_while_booked_but_not_offered(
    owner: Client, bookings: Bookings, booking: Booking
) -> None:
    with bookings.tenant.tx():
        Resource.objects.update(is_active=False)
        Resource.objects.filter(name="Two").update(is_active=True)
    text = owner.get(address(bookings, "bookings"), {"day": day_of(booking)}).content.decode()
    assert ('<span class="ell">Four</span>' in text, '<span class="ell">Dr. Weber</span>' in text) == (True, False)
    form = {"date": day_of(booking), "time": "12:00", "party_size": "2", "resource": str(booking.resource_id)}
    assert "Select a valid choice." in owner.post(address(bookings, "bookings"), form).content.decode()


def test_every_row_of_the_board_spans_the_opening_hours(bookings: Bookings, booking: Booking) -> None:
    with bookings.tenant.tx():
        opening, resources = Opening(config_of(bookings.project)), list(Resource.objects.all())
        board = board_of(
            booking.starts_at.date(), opening=opening, resources=resources, bookings=[booking], now=timezone.now()
        )
    assert board is not None
    width = sum(hour.columns for hour in board.hours)
    assert {sum(cell.columns for cell in row.cells) for row in board.rows} == {width}
    (taken,) = [cell for row in board.rows for cell in row.cells if cell.booking]
    assert (taken.time, taken.columns) == ("19:00", 6)


def test_a_project_without_resources_says_what_to_do_first(owner: Client, bookings: Bookings) -> None:
    bookings.stock()
    text = owner.get(address(bookings, "bookings")).content.decode()
    assert "Add something to book" in text
    assert address(bookings, "resources") in text


def test_staff_can_book(owner: Client, bookings: Bookings, booking: Booking) -> None:
    form = {
        "date": day_of(booking),
        "time": "12:00",
        "party_size": "2",
        "name": "Grace",
        "phone": "",
        "resource": "",
        "notes": "A high chair",
    }
    text = owner.post(address(bookings, "bookings"), form, follow=True).content.decode()
    assert "Booked: Grace, " in text
    with bookings.tenant.tx():
        made = Booking.objects.select_related("resource").get(name="Grace")
    assert (made.resource.name, made.notes) == ("Two", "A high chair")


def test_the_form_says_why_a_time_cannot_be_booked(owner: Client, bookings: Bookings, booking: Booking) -> None:
    form = {"date": day_of(booking), "time": "19:00", "party_size": "4", "name": "Grace"}
    text = owner.post(address(bookings, "bookings"), form).content.decode()
    assert "no table for 4 is free" in text
    assert 'value="Grace"' in text
    assert "Choose a time." in owner.post(address(bookings, "bookings"), {"date": day_of(booking)}).content.decode()


def test_a_time_that_the_clocks_skip_is_a_field_error(owner: Client, bookings: Bookings) -> None:
    with bookings.tenant.tx():
        opening, day = Opening(config_of(bookings.project)), timezone.now().date()
    while opening.moment(datetime(day.year, day.month, day.day, 2, 30)) is not None:  # noqa: DTZ001 - local
        day += timedelta(days=1)
    form = {"date": day.isoformat(), "time": "02:30", "party_size": "2"}
    text = owner.post(address(bookings, "bookings"), form).content.decode()
    assert "This time doesn’t exist on that day" in text


def test_the_days_offered_to_customers_begin_today(bookings: Bookings) -> None:
    """Past days are not offered."""
    with bookings.tenant.tx():
        opening = Opening(config_of(bookings.project))
    today = NOW.date()
    near = days_around(today + timedelta(days=1), opening=opening, today=today)
    assert (near.days[0].day, near.earlier, len(near.days)) == (today, "", 14)
    far = days_around(today + timedelta(days=9), opening=opening, today=today)
    assert (far.days[0].day, far.earlier) == (today + timedelta(days=6), today.isoformat())


def test_an_invalid_number_is_a_field_error(owner: Client, bookings: Bookings, booking: Booking) -> None:
    form = {"date": day_of(booking), "time": "12:00", "party_size": "2", "name": "Grace", "phone": "by e-mail"}
    text = owner.post(address(bookings, "bookings"), form).content.decode()
    assert f"by e-mail is not a phone number. {EXAMPLE}" in text
    assert 'value="by e-mail"' in text
    owner.post(address(bookings, "bookings"), {**form, "phone": "06 555 0142"})
    with bookings.tenant.tx():
        assert Booking.objects.get(name="Grace").phone == "+39065550142"


def test_a_booking_is_found_by_name_phone_or_code(owner: Client, bookings: Bookings, booking: Booking) -> None:
    for words in ("lovelace", "06 555 0199", booking.code.lower(), "ADA@example.com"):
        assert booking.code in owner.get(address(bookings, "bookings"), {"q": words}).content.decode()
    assert "No bookings found" in owner.get(address(bookings, "bookings"), {"q": "nobody\x00"}).content.decode()


def test_search_results_are_sorted_latest_first(owner: Client, bookings: Bookings, booking: Booking) -> None:
    later = bookings.book(booking.starts_at + timedelta(days=1), now=timezone.now())
    text = owner.get(address(bookings, "bookings"), {"q": "lovelace"}).content.decode()
    assert text.index(later.code) < text.index(booking.code)


def test_a_booking_page_shows_every_detail(owner: Client, bookings: Bookings, booking: Booking) -> None:
    text = owner.get(address(bookings, "booking", booking.pk)).content.decode()
    for words in (
        "Ada Lovelace",
        "Four",
        booking.code,
        "tel:+39065550199",
        "+39 06 555 0199",
        ADA.email,
        "By the window",
        "/b/",
    ):
        assert words in text


def test_staff_can_move_a_booking(owner: Client, bookings: Bookings, booking: Booking) -> None:
    form = {"date": day_of(booking), "time": "20:00", "party_size": "3", "resource": str(booking.resource_id)}
    text = owner.post(address(bookings, "booking", booking.pk), form, follow=True).content.decode()
    assert "Booking moved: Ada Lovelace, " in text
    with bookings.tenant.tx():
        assert Booking.objects.get().starts_at == booking.starts_at + timedelta(hours=1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"party_size": "40"}, "Four is too small for 40 people: it is for 4 people."),
        ({"time": "21:00"}, "no place at Four for 3 is free"),
    ],
    ids=["too many people", "taken"],
)
def test_a_refused_move_names_the_chosen_table(
    owner: Client, bookings: Bookings, booking: Booking, change: dict[str, str], words: str
) -> None:
    """Others may be larger or free."""
    bookings.book(booking.starts_at + timedelta(hours=2), 3)
    form = {"date": day_of(booking), "time": "19:00", "party_size": "3", "resource": str(booking.resource_id)}
    assert words in owner.post(address(bookings, "booking", booking.pk), {**form, **change}).content.decode()


def test_moving_a_booking_that_was_canceled_meanwhile_says_so(
    owner: Client, bookings: Bookings, booking: Booking
) -> None:
    owner.post(address(bookings, "booking_cancel", booking.pk))
    form = {"date": day_of(booking), "time": "20:00", "party_size": "3"}
    page = owner.post(address(bookings, "booking", booking.pk), form)
    [why] = page.context["form"].non_field_errors()
    assert escape(why) in page.content.decode()


def test_staff_can_cancel_a_booking(owner: Client, bookings: Bookings, booking: Booking) -> None:
    text = owner.post(address(bookings, "booking_cancel", booking.pk), follow=True).content.decode()
    assert "Booking canceled." in text
    with bookings.tenant.tx():
        assert (Booking.objects.get().state, Booking.objects.get().cancelled_by) == (BookingState.CANCELLED, "staff")


def test_bookings_that_have_begun_or_ended_cannot_change(owner: Client, bookings: Bookings) -> None:
    bookings.configure(hours={}, holidays=[])
    begun = bookings.book(timezone.now() - timedelta(minutes=5), now=timezone.now() - timedelta(hours=1))
    over = bookings.book(timezone.now() - timedelta(hours=4), now=timezone.now() - timedelta(hours=5))
    assert "Past</span>" in owner.get(address(bookings, "booking", over.pk)).content.decode()
    text = owner.post(address(bookings, "booking_cancel", begun.pk), follow=True).content.decode()
    assert "The booking has begun already, so it can&#x27;t be cancelled." in text
    assert 'id="change-title"' not in text


def test_a_viewer_can_look_but_not_change(viewer: User, bookings: Bookings, booking: Booking) -> None:
    assert viewer.pk
    client = Client()
    client.force_login(viewer)
    text = client.get(address(bookings, "bookings"), {"day": day_of(booking), "new": "1"}).content.decode()
    assert "Ada Lovelace" in text
    assert Role.VIEWER in text
    assert "New booking" not in text
    assert client.post(address(bookings, "booking", booking.pk), {}).status_code == 403


def resource(bookings: Bookings, name: str) -> Resource:
    with bookings.tenant.tx():
        return Resource.objects.get(name=name)


def saved(owner: Client, bookings: Bookings, which: str, **changes: Any) -> str:
    one = resource(bookings, which)
    form = {"name": one.name, "kind": one.kind, "capacity": one.capacity, "slot_minutes": one.slot_minutes}
    path = address(bookings, "resource_change", one.pk)
    return owner.post(path, {**form, "is_active": "on", **changes}, follow=True).content.decode()


def test_several_resources_are_created_at_once(owner: Client, bookings: Bookings) -> None:
    form = {"name": "Booth", "kind": "table", "count": "3", "capacity": "6", "slot_minutes": "120"}
    text = owner.post(address(bookings, "resources"), form, follow=True).content.decode()
    assert "Added Booth 1, Booth 2 and Booth 3." in text
    assert resource(bookings, "Booth 3").capacity == 6


def test_a_single_resource_keeps_its_name(owner: Client, bookings: Bookings) -> None:
    form = {"name": "Terrace", "kind": "table", "count": "1", "capacity": "6", "slot_minutes": "120"}
    assert "Added Terrace." in owner.post(address(bookings, "resources"), form, follow=True).content.decode()


def test_a_taken_name_prevents_creating_any_of_several(owner: Client, bookings: Bookings) -> None:
    bookings.stock(("Booth 2", "table", 2, 90))
    form = {"name": "Booth", "kind": "table", "count": "3", "capacity": "6", "slot_minutes": "120"}
    assert "Another resource has this name" in owner.post(address(bookings, "resources"), form).content.decode()
    with bookings.tenant.tx():
        assert Resource.objects.count() == 1


def test_a_resource_is_edited_in_its_row(owner: Client, bookings: Bookings) -> None:
    assert "Two saved." in saved(owner, bookings, "Two", capacity="3")
    assert resource(bookings, "Two").capacity == 3
    assert "Another resource has this name" in saved(owner, bookings, "Two", name="Four")
    assert "Minutes: Ensure this value is greater than or equal to 5." in saved(
        owner, bookings, "Two", slot_minutes="1"
    )


def test_a_resource_is_removed_unless_it_was_booked(owner: Client, bookings: Bookings, booking: Booking) -> None:
    def remove(pk: UUID) -> str:
        return owner.post(address(bookings, "resource_remove", pk), follow=True).content.decode()

    assert "Four has bookings" in remove(booking.resource_id)
    assert "Two removed." in remove(resource(bookings, "Two").pk)


@pytest.fixture
def two(bookings: Bookings) -> Resource:
    with bookings.tenant.tx():
        return Resource.objects.get(name="Two")


def remove_meanwhile(bookings: Bookings, resource: Resource) -> Any:
    def remove() -> None:
        with bookings.tenant.tx():
            Resource.objects.filter(pk=resource.pk).delete()

    return meanwhile('FROM "tools_resource"', remove)


def test_removing_a_resource_twice_succeeds(owner: Client, bookings: Bookings, two: Resource) -> None:
    """A double click, or a click at the same time as a colleague's, has the desired result."""
    with remove_meanwhile(bookings, two):
        response = owner.post(address(bookings, "resource_remove", two.pk), follow=True)
    assert (response.status_code, "Two removed." in response.content.decode()) == (200, True)


def test_a_concurrently_removed_resource_is_not_found(
    owner: Client, api: Client, bookings: Bookings, two: Resource
) -> None:
    """On the page and in the API."""
    form = {"name": "Two", "kind": "table", "capacity": 3, "slot_minutes": 90}
    with remove_meanwhile(bookings, two):
        assert owner.post(address(bookings, "resource_change", two.pk), form).status_code == 404
    with bookings.tenant.tx():
        two.save(force_insert=True)
    with remove_meanwhile(bookings, two):
        path = f"/api/v1/resources/{two.pk}"
        assert api.patch(path, {"capacity": 3}, content_type="application/json").status_code == 404
