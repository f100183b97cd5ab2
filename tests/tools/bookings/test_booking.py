"""Booking, moving and canceling, one guest at a time."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import IntegrityError

from projects.common.api_error import Conflict
from tenancy.ids import uuid7
from tests.tools.bookings.conftest import ADA, NOW, Bookings, rome
from tools.models import Booking, BookingKind, BookingState, Resource
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.codes import ALPHABET, normal_code
from tools.services.bookings.finding import BookingLookup, find_upcoming_bookings
from tools.services.bookings.refusals import BookingOver, Closed, Past, SlotTaken
from tools.services.bookings.resources import NameTaken, change_resource, create_resource, remove_resource
from tools.services.bookings.services import Cause, Guest, book, cancel, move

EVENING = rome(27, "19:00")


def test_a_booking_code_is_easy_to_say(bookings: Bookings) -> None:
    booking = bookings.book(EVENING)
    assert len(booking.code) == 6
    assert set(booking.code) <= set(ALPHABET)
    assert normal_code(f" {booking.code[:3].lower()}-{booking.code[3:]} ") == booking.code


def test_a_code_collision_generates_a_new_code(bookings: Bookings, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = iter(["AAAAAA", "AAAAAA", "CCCCCC"])
    monkeypatch.setattr("tools.services.bookings.services.new_code", lambda: next(codes))
    assert [bookings.book(EVENING).code, bookings.book(EVENING).code] == ["AAAAAA", "CCCCCC"]


def test_a_taken_time_is_refused_with_alternatives(bookings: Bookings) -> None:
    bookings.book(EVENING, 4)
    with pytest.raises(SlotTaken, match=r"19:00: no table for 4 is free\. Free that day: 20:30"):
        bookings.book(EVENING, 4)


def test_a_booking_may_start_when_another_ends(bookings: Bookings) -> None:
    bookings.book(EVENING, 4)
    assert bookings.book(rome(27, "20:30"), 4).resource.name == "Four"


@pytest.mark.parametrize(("day", "clock", "kind"), [(20, "19:00", Past), (27, "16:00", Closed), (23, "19:00", Closed)])
def test_past_and_closed_times_cannot_be_booked(
    bookings: Bookings, day: int, clock: str, kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        bookings.book(rome(day, clock))
    with bookings.tenant.tx():
        assert not Booking.objects.exists()


def test_the_same_effect_books_once(bookings: Bookings) -> None:
    cause = Cause(effect_id=bookings.effect())
    assert bookings.book(EVENING, 4, cause=cause).pk == bookings.book(EVENING, 4, cause=cause).pk


def test_a_meeting_goes_to_a_person_and_a_booking_to_a_table(bookings: Bookings) -> None:
    meeting = bookings.book(EVENING, request=BookingRequest(party_size=1, kind=BookingKind.MEETING))
    assert (meeting.resource.name, bookings.book(EVENING, 1).resource.name) == ("Dr. Weber", "Two")


def test_a_meeting_goes_to_a_room_if_there_is_no_person(bookings: Bookings) -> None:
    bookings.stock(("Two", "table", 2, 90), ("Library", "room", 8, 60))
    assert (
        bookings.book(EVENING, request=BookingRequest(party_size=1, kind=BookingKind.MEETING)).resource.name
        == "Library"
    )


def moved(bookings: Bookings, booking: Booking, clock: str, party_size: int = 2) -> Booking:
    with bookings.tenant.tx():
        return move(booking, bookings.project, starts_at=rome(27, clock), party_size=party_size, now=NOW)


@pytest.mark.parametrize(
    ("asked", "given"),
    [("Lena", "Lena"), ("dr weber", "Dr. Weber"), ("weber", "Dr. Weber"), ("Table 1", "Table 1"), ("Ele", "Elena")],
)
def test_a_named_person_is_the_one_booked(bookings: Bookings, asked: str, given: str) -> None:
    """If that person is taken, nobody with a longer name is booked instead."""
    people = ("Elena", "Lena", "Dr. Weber", "Dr. Weberling")
    bookings.stock(
        *((name, "person", 2, 30) for name in people), ("Table 1", "table", 2, 90), ("Table 10", "table", 2, 90)
    )
    assert bookings.book(EVENING, request=BookingRequest(2, name=asked)).resource.name == given
    with pytest.raises(SlotTaken):
        bookings.book(EVENING, request=BookingRequest(2, name=asked))


def test_a_booking_can_move_into_its_own_slot(bookings: Bookings) -> None:
    """Half an hour later, it overlaps only itself."""
    booking = bookings.book(EVENING, 4)
    later = moved(bookings, booking, "19:30", 4)
    assert (later.starts_at, later.ends_at) == (rome(27, "19:30"), rome(27, "21:00"))
    assert (later.code, later.resource.name) == (booking.code, "Four")


def test_a_larger_party_moves_to_a_larger_table(bookings: Bookings) -> None:
    assert moved(bookings, bookings.book(EVENING, 2), "19:00", 3).resource.name == "Four"


def test_a_failed_move_leaves_the_booking_unchanged(bookings: Bookings) -> None:
    bookings.book(rome(27, "20:30"), 4)
    booking = bookings.book(EVENING, 4)
    with pytest.raises(SlotTaken):
        moved(bookings, booking, "20:00", 4)
    with bookings.tenant.tx():
        assert Booking.objects.get(pk=booking.pk).starts_at == EVENING


def cancelled(bookings: Bookings, booking: Booking, by: str = "customer", *, now=NOW) -> Booking:
    with bookings.tenant.tx():
        return cancel(booking, by=by, now=now)


def test_canceling_frees_the_slot(bookings: Bookings) -> None:
    cancelled(bookings, bookings.book(EVENING, 4))
    assert bookings.book(EVENING, 4).resource.name == "Four"


def test_the_first_cancellation_is_recorded(bookings: Bookings) -> None:
    booking = bookings.book(EVENING)
    cancelled(bookings, booking, "customer")
    assert cancelled(bookings, booking, "staff").cancelled_by == "customer"


def test_a_canceled_booking_cannot_move(bookings: Bookings) -> None:
    booking = bookings.book(EVENING)
    cancelled(bookings, booking)
    with pytest.raises(BookingOver, match="is cancelled"):
        moved(bookings, booking, "20:30")


def test_a_booking_that_has_begun_cannot_change(bookings: Bookings) -> None:
    booking = bookings.book(EVENING)
    with pytest.raises(BookingOver, match="has begun"):
        cancelled(bookings, booking, now=EVENING)


def found(bookings: Bookings, **clue: object) -> list[str]:
    with bookings.tenant.tx():
        return [one.code for one in find_upcoming_bookings(bookings.project, BookingLookup(**clue), now=NOW)]  # type: ignore[arg-type]


def test_a_code_alone_finds_its_booking(bookings: Bookings) -> None:
    code = bookings.book(EVENING).code
    bookings.book(EVENING)
    assert found(bookings, code=code.lower()) == [code]


def test_a_phone_number_finds_bookings_only_with_the_name(bookings: Bookings) -> None:
    """Many people know a number, so it reveals nothing by itself."""
    code = bookings.book(EVENING).code
    assert found(bookings, phone="06 555 0199", name="ada lovelace") == [code]
    assert found(bookings, phone="06 555 0199") == []
    assert found(bookings, phone="06 555 0199", name="Mallory") == []


@pytest.mark.parametrize("name", ["lo", "Love", "ovelace", "an", "Ada", "Lovelac"])
def test_part_of_a_name_finds_nothing(bookings: Bookings, name: str) -> None:
    """Two letters occur in many names, and a first name is quickly guessed. The surname is said whole."""
    bookings.book(EVENING)
    assert found(bookings, phone="06 555 0199", name=name) == []


@pytest.mark.parametrize(("booked", "said"), [("José Núñez", "NUNEZ"), ("Ada", "Ada"), ("Jan van der Berg", "mr berg")])
def test_a_surname_is_compared_as_people_say_it(bookings: Bookings, booked: str, said: str) -> None:
    code = bookings.book(EVENING, guest=Guest(name=booked, phone=ADA.phone)).code
    assert found(bookings, phone=ADA.phone, name=said) == [code]


def test_a_customer_finds_their_own_bookings(bookings: Bookings) -> None:
    assert found(bookings, persona_id=uuid4()) == []


def test_past_and_canceled_bookings_are_not_found(bookings: Bookings) -> None:
    booking = bookings.book(EVENING)
    cancelled(bookings, booking)
    bookings.book(rome(21, "12:00"), guest=Guest(name="Ada", phone=ADA.phone))
    assert found(bookings, code=booking.code) == []
    with bookings.tenant.tx():
        past = find_upcoming_bookings(
            bookings.project, BookingLookup(proven_phone="+39065550199"), now=rome(21, "14:00")
        )
    assert past == []


# Resources


def test_resource_names_are_unique(bookings: Bookings) -> None:
    with bookings.tenant.tx():
        with pytest.raises(NameTaken):
            create_resource(bookings.project, name="FOUR", kind="table", capacity=2, slot_minutes=60)
        with pytest.raises(NameTaken):
            change_resource(Resource.objects.get(name="Two"), {"name": "four"})


def test_a_resource_with_bookings_cannot_be_removed(bookings: Bookings) -> None:
    booking = bookings.book(EVENING)
    with bookings.tenant.tx():
        with pytest.raises(Conflict, match="Switch it off instead"):
            remove_resource(booking.resource)
        remove_resource(Resource.objects.get(name="Dr. Weber"))
        assert list(Resource.objects.values_list("name", flat=True)) == ["Two", "Four"]


def test_the_database_keeps_one_booking_per_effect(bookings: Bookings) -> None:
    booking = bookings.book(EVENING, cause=Cause(effect_id=bookings.effect()))
    with pytest.raises(IntegrityError), bookings.tenant.tx():
        booking.pk, booking.code = uuid7(), "XXXXXX"
        booking.save(force_insert=True)


def test_a_booking_stores_its_guest(bookings: Bookings) -> None:
    with bookings.tenant.tx():
        made = book(bookings.project, BookingRequest(2), starts_at=EVENING, guest=ADA, now=NOW, notes="x" * 3000)
    assert (made.phone, len(made.notes), made.state) == ("+39065550199", 2000, BookingState.CONFIRMED)
