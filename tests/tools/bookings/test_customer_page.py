"""The customer's booking page: its link, its content, and its actions."""

from __future__ import annotations

from datetime import timedelta
from html import unescape

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import get_language_bidi, gettext, override

from console.bookings import customer
from tests.tools.bookings.conftest import Bookings
from tools.models import Booking, BookingState, Resource
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.day_schedule import STEP
from tools.services.signed_links import booking_token, manage_url, read_booking_token


@pytest.fixture
def booking(bookings: Bookings) -> Booking:
    """A booking for four, two weeks from now, at a time when the business is open."""
    bookings.configure(hours={}, holidays=[])
    start = timezone.now().replace(hour=18, minute=0, second=0, microsecond=0) + timedelta(days=14)
    return bookings.book(start, now=timezone.now(), request=BookingRequest(4))


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable rate limits, so that tests don't affect each other."""
    monkeypatch.setattr(customer, "seconds_to_wait", lambda bucket, *, per_minute: 0)


def path_of(booking: Booking) -> str:
    return f"/b/{booking_token(booking)}"


def now(bookings: Bookings, booking: Booking) -> Booking:
    with bookings.tenant.tx():
        return Booking.objects.get(pk=booking.pk)


def page(booking: Booking, **query: object) -> str:
    return Client().get(path_of(booking), query).content.decode()


def test_the_link_is_short_enough_for_a_text(booking: Booking) -> None:
    assert len(booking_token(booking)) == 64
    assert len(manage_url(booking)) < 100


def test_the_page_shows_the_booking_without_a_session(booking: Booking) -> None:
    text = page(booking)
    for words in ("Trattoria Da Nello", "Your booking", "4 people", "Ada Lovelace", booking.code, "Confirmed"):
        assert words in text
    assert "+39065550199" not in text


SHOWN = ("Your booking", "Change the time", "Show times", "Move booking", "Cancel booking")


@pytest.mark.parametrize("language", [code for code, _ in settings.LANGUAGES])
def test_the_page_is_available_in_each_language(language: str, booking: Booking) -> None:
    browser = Client(headers={"Accept-Language": language})
    text = unescape(browser.get(path_of(booking)).content.decode())
    with override(language):
        assert [sentence for sentence in SHOWN if gettext(sentence) not in text] == []
        assert f'lang="{language}" dir="{"rtl" if get_language_bidi() else "ltr"}"' in text
        cancelled = unescape(browser.post(path_of(booking), {"do": "cancel"}, follow=True).content.decode())
        assert gettext("Booking canceled.") in cancelled
        assert gettext("You canceled this booking.") in cancelled


def test_days_are_written_in_the_language_of_the_page(booking: Booking) -> None:
    text = Client(headers={"Accept-Language": "it"}).get(path_of(booking)).content.decode()
    with override("it"):
        assert f"<span>{date_format(booking.starts_at, 'l')}</span>" in text


def test_the_page_is_never_cached(booking: Booking) -> None:
    headers = Client().get(path_of(booking)).headers
    assert "no-store" in headers["Cache-Control"]
    assert headers["X-Robots-Tag"] == "noindex, nofollow"
    assert headers["Referrer-Policy"] == "same-origin"


def test_a_token_with_one_changed_letter_is_invalid(booking: Booking) -> None:
    token = booking_token(booking)
    for at in (0, 30, 50, 63):
        other = "A" if token[at] != "A" else "Q"
        answer = Client().get(f"/b/{token[:at]}{other}{token[at + 1 :]}")
        assert (answer.status_code, "or ask for a new link" in answer.content.decode()) == (404, True)
    for forged in (token[:-1], token + "A", "é" * 64, "!" * 64):
        assert read_booking_token(forged) is None


def test_a_token_signed_with_an_older_key_still_opens(booking: Booking, settings) -> None:
    path, settings.SECRET_KEY_FALLBACKS = path_of(booking), [settings.SECRET_KEY]
    settings.SECRET_KEY = "y" * 50
    assert Client().get(path).status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert Client().get(path).status_code == 404


def test_a_link_expires_a_day_after_its_booking(bookings: Bookings, booking: Booking) -> None:
    with bookings.tenant.tx():
        ended = timezone.now() - timedelta(hours=23)
        Booking.objects.filter(pk=booking.pk).update(starts_at=ended - timedelta(hours=1), ends_at=ended)
    assert "This booking can no longer be changed here." in page(booking)
    with bookings.tenant.tx():
        ended = timezone.now() - timedelta(hours=25)
        Booking.objects.filter(pk=booking.pk).update(starts_at=ended - timedelta(hours=1), ends_at=ended)
    response = Client().get(path_of(booking))
    assert response.status_code == 410
    assert "This link has expired" in response.content.decode()
    assert booking.code not in response.content.decode()


def test_the_customer_moves_the_booking(bookings: Bookings, booking: Booking) -> None:
    later = booking.starts_at + timedelta(hours=2)
    response = Client().post(
        path_of(booking), {"do": "move", "starts_at": later.isoformat(), "people": "3"}, follow=True
    )
    assert "Booking moved: " in response.content.decode()
    assert (now(bookings, booking).starts_at, now(bookings, booking).party_size) == (later, 3)


def test_a_moved_appointment_keeps_its_person(bookings: Bookings, booking: Booking) -> None:
    """An appointment with Dr. Weber moves only to a time when Dr. Weber is free; a free table does not count."""
    bookings.stock(("Two", "table", 2, 30), ("Dr. Adler", "person", 2, 30), ("Dr. Weber", "person", 2, 30))
    now_, dr_weber = timezone.now(), BookingRequest(1, name="Dr. Weber")
    met = bookings.book(booking.starts_at, now=now_, request=dr_weber)
    free, taken = (booking.starts_at + timedelta(hours=hours) for hours in (2, 4))
    bookings.book(taken, now=now_, request=dr_weber)
    Client().post(path_of(met), {"starts_at": free.isoformat(), "people": "1"})
    assert (now(bookings, met).starts_at, now(bookings, met).resource_id) == (free, met.resource_id)
    with bookings.tenant.tx():
        clock = bookings.search().opening.local(taken).isoformat()
    assert f'value="{clock}"' not in page(met)
    answer = Client().post(path_of(met), {"starts_at": taken.isoformat(), "people": "1"}, follow=True)
    assert "no appointment" in answer.content.decode()
    with bookings.tenant.tx():
        Resource.objects.filter(pk=met.resource_id).update(is_active=False)
    assert "That table, room or person takes no bookings." in page(met)


def test_a_moved_booking_keeps_its_room_if_it_is_large_enough(bookings: Bookings, booking: Booking) -> None:
    """A guest who booked a room is neither given the smaller table nor offered its times. Ten people fit nowhere else."""
    bookings.stock(("Corner", "table", 2, 30), ("Salon", "room", 4, 30), ("Long", "table", 10, 30))
    now_, salon = timezone.now(), BookingRequest(2, name="Salon")
    mine = bookings.book(booking.starts_at, now=now_, request=salon)
    free, taken = (booking.starts_at + timedelta(hours=hours) for hours in (2, 4))
    bookings.book(taken, now=now_, request=salon)
    Client().post(path_of(mine), {"starts_at": free.isoformat(), "people": "2"})
    assert (now(bookings, mine).starts_at, now(bookings, mine).resource_id) == (free, mine.resource_id)
    with bookings.tenant.tx():
        clock = bookings.search().opening.local(taken).isoformat()
    assert f'value="{clock}"' not in page(mine)
    answer = Client().post(path_of(mine), {"starts_at": taken.isoformat(), "people": "2"}, follow=True)
    assert "no room for 2 is free" in answer.content.decode()
    Client().post(path_of(mine), {"starts_at": free.isoformat(), "people": "10"})
    with bookings.tenant.tx():
        assert Booking.objects.select_related("resource").get(pk=mine.pk).resource.name == "Long"


@pytest.mark.parametrize("asked", ["0", "21", "00205000", "0002" + "9" * 5000])
def test_a_party_size_beyond_the_choices_is_not_searched(bookings: Bookings, booking: Booking, asked: str) -> None:
    """The choices end at twenty. With thousands the page took seconds, with more it failed."""
    text = page(booking, people=asked)
    assert "<option>20</option>" in text
    assert "<option>21" not in text


def test_a_time_that_was_just_taken_is_reported(bookings: Bookings, booking: Booking) -> None:
    later = booking.starts_at + timedelta(hours=2)
    bookings.book(later, now=timezone.now(), request=BookingRequest(4))
    response = Client().post(path_of(booking), {"starts_at": later.isoformat(), "people": "4"}, follow=True)
    assert "no table for 4 is free" in response.content.decode()
    assert now(bookings, booking).starts_at == booking.starts_at


def test_the_page_offers_free_times_and_the_current_one(bookings: Bookings, booking: Booking) -> None:
    text = page(booking)
    for shift, is_offered in ((STEP, True), (timedelta(hours=1), True)):
        moment = desk_time(bookings, booking, shift)
        assert (f'value="{moment}"' in text) is is_offered
    assert "<small>yours</small>" in text


def desk_time(bookings: Bookings, booking: Booking, shift: timedelta) -> str:
    with bookings.tenant.tx():
        return bookings.search(4).opening.local(booking.starts_at + shift).isoformat()


@pytest.mark.parametrize("starts_at", ["", "tomorrow", "2026-12-01T19:00", "0001-01-01T00:00+00:00"])
def test_an_invalid_time_moves_nothing(bookings: Bookings, booking: Booking, starts_at: str) -> None:
    response = Client().post(path_of(booking), {"starts_at": starts_at}, follow=True)
    assert "Choose a time." in response.content.decode()
    assert now(bookings, booking).starts_at == booking.starts_at


@pytest.mark.parametrize(
    "query", [{"day": "x", "people": "-1"}, {"day": "9999-12-31", "people": "9" * 30}, {"people": "0"}]
)
def test_invalid_query_parameters_still_show_the_booking(booking: Booking, query: dict[str, str]) -> None:
    assert booking.code in page(booking, **query)


def test_the_customer_cancels(bookings: Bookings, booking: Booking) -> None:
    response = Client().post(path_of(booking), {"do": "cancel"}, follow=True)
    assert "Booking canceled." in response.content.decode()
    assert "You canceled this booking." in response.content.decode()
    assert (now(bookings, booking).state, now(bookings, booking).cancelled_by) == (BookingState.CANCELLED, "customer")


def test_cross_site_posts_are_rejected(bookings: Bookings, booking: Booking) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post(path_of(booking), {"do": "cancel"}).status_code == 403
    assert now(bookings, booking).state == BookingState.CONFIRMED


def test_views_and_changes_are_rate_limited(booking: Booking, monkeypatch: pytest.MonkeyPatch) -> None:
    """Views by IP address, changes by booking."""
    asked: list[str] = []

    def wait(bucket: str, *, per_minute: int) -> float:
        asked.append(bucket)
        return 0 if bucket.endswith("127.0.0.1") else 1.5

    monkeypatch.setattr(customer, "seconds_to_wait", wait)
    assert Client().get(path_of(booking)).status_code == 200
    response = Client().post(path_of(booking), {"do": "cancel"})
    assert (response.status_code, response.headers["Retry-After"]) == (429, "2")
    assert asked == ["own_booking:127.0.0.1", "own_booking:127.0.0.1", f"own_booking:{booking.pk}"]


@pytest.mark.usefixtures("_schema")
def test_guessing_tokens_is_rate_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the real bucket, in Redis."""
    monkeypatch.undo()
    monkeypatch.setattr(customer, "VIEWS_PER_MINUTE", 3)
    client = Client(REMOTE_ADDR="203.0.113.9")
    assert [client.get(f"/b/{'A' * 64}").status_code for _ in range(4)] == [404, 404, 404, 429]
