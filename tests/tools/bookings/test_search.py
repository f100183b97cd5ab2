"""Free times: the answer that the agent reads for a day and time."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

import pytest

from tests.conftest import Tenant
from tests.tools.bookings.conftest import NOW, Bookings, rome
from tools.models import Resource
from tools.services.bookings.refusals import Closed, NothingToBook, Past, TooFar, TooLarge

pytestmark = pytest.mark.requirement("N51")


FRIDAY = date(2026, 11, 27)


def told(bookings: Bookings, day: date = FRIDAY, clock: str | None = "19:00", party_size: int | None = 4) -> str:
    with bookings.tenant.tx():
        search = bookings.search(party_size)
        return bookings.words(search.on(day, time.fromisoformat(clock) if clock else None))


def test_a_free_time_comes_with_others_near_it(bookings: Bookings) -> None:
    assert (
        told(bookings) == "Friday 27 November at 19:00: a table for 4 is free. Also free: 18:30, 19:30, 20:00, 20:30."
    )


def test_a_taken_time_comes_with_the_nearest_alternatives(bookings: Bookings) -> None:
    bookings.book(rome(27, "18:45"), 4)
    assert told(bookings) == "Friday 27 November at 19:00: no table for 4 is free. Free that day: 20:15, 20:45, 21:15."


def test_a_distant_time_is_offered_if_none_is_near(bookings: Bookings) -> None:
    """Better than saying that nothing is free."""
    bookings.configure(hours={"fri": [("09:00", "10:30"), ("17:00", "21:00")]})
    bookings.book(rome(27, "17:30"), 4)
    bookings.book(rome(27, "19:00"), 4)
    assert told(bookings) == "Friday 27 November at 19:00: no table for 4 is free. Free that day: 09:00."


def test_without_a_time_the_whole_day_is_summarized(bookings: Bookings) -> None:
    words = told(bookings, clock=None)
    assert words.startswith("Friday 27 November: a table for 4 is free at 12:00, ")
    assert words.endswith("21:30.")


def test_a_full_day_leads_to_the_next_free_day(bookings: Bookings) -> None:
    bookings.configure(hours={"fri": [("19:00", "20:30")], "sat": [("18:00", "21:00")]})
    bookings.book(rome(27, "19:00"), 4)
    assert told(bookings) == (
        "Friday 27 November at 19:00: no table for 4 is free. "
        "The next that are free: Saturday 28 November at 18:30, 19:00, 19:30."
    )


def test_the_party_size_may_be_unknown(bookings: Bookings) -> None:
    assert told(bookings, party_size=None).startswith("Friday 27 November at 19:00: a table is free.")


def test_a_party_gets_the_smallest_table_that_fits(bookings: Bookings) -> None:
    assert bookings.book(rome(27, "19:00"), 1).resource.name == "Two"
    assert bookings.book(rome(27, "19:00"), 2).resource.name == "Four"


def test_too_large_a_party_reads_the_largest_capacity(bookings: Bookings) -> None:
    with bookings.tenant.tx(), pytest.raises(TooLarge, match=r"9 people can't be booked together.*for 4 people"):
        bookings.search(9)


def test_a_project_without_resources_says_so(bookings: Bookings) -> None:
    bookings.stock()
    with bookings.tenant.tx(), pytest.raises(NothingToBook, match="no table, room or person"):
        bookings.search(2)


def test_inactive_resources_are_not_offered(bookings: Bookings) -> None:
    with bookings.tenant.tx():
        Resource.objects.filter(name="Four").update(is_active=False)
        with pytest.raises(TooLarge):
            bookings.search(4)


def refusal(
    bookings: Bookings, kind: type[Exception], day: date, clock: str | None = None, *, now: datetime = NOW
) -> str:
    with bookings.tenant.tx(), pytest.raises(kind) as caught:
        bookings.search(4, now=now).on(day, time.fromisoformat(clock) if clock else None)
    return str(caught.value)


def test_a_closed_day_leads_to_an_open_one(bookings: Bookings) -> None:
    assert refusal(bookings, Closed, date(2026, 11, 23)) == (
        "Monday 23 November is a day on which it is closed. "
        "The next that are free: Tuesday 24 November at 12:00, 19:00, 21:30."
    )


def test_a_holiday_is_closed(bookings: Bookings) -> None:
    assert "Thursday 24 December is a day on which it is closed." in refusal(bookings, Closed, date(2026, 12, 24))


def test_a_time_outside_opening_hours_is_answered_with_the_hours(bookings: Bookings) -> None:
    assert refusal(bookings, Closed, FRIDAY, "22:00") == (
        "Friday 27 November at 22:00 can't be booked: it is open from 12:00 to 15:00 and from 18:30 to 23:00, "
        "and a table for 4 takes 90 minutes. Free that day: 20:00, 20:30, 21:00, 21:30."
    )


def test_a_past_day_leads_to_today(bookings: Bookings) -> None:
    assert refusal(bookings, Past, date(2026, 11, 20)).startswith(
        "Friday 20 November is past, today is Saturday 21 November. The next that are free: Saturday 21 November at"
    )


def test_a_past_time_leads_to_a_later_one(bookings: Bookings) -> None:
    words = refusal(bookings, Past, date(2026, 11, 21), "12:00", now=datetime(2026, 11, 21, 13, 0, tzinfo=UTC))
    assert words == "Saturday 21 November at 12:00 is past. Free that day: 14:00, 14:30, 15:00."


def test_bookings_are_taken_up_to_a_year_ahead(bookings: Bookings) -> None:
    assert "until Sunday 21 November 2027" in refusal(bookings, TooFar, date(2027, 11, 22))


def test_a_person_is_found_by_name(bookings: Bookings) -> None:
    with bookings.tenant.tx():
        found = bookings.search(None, name="weber").on(FRIDAY, time(12, 10))
        assert bookings.words(found).startswith("Friday 27 November at 12:10: an appointment with Dr. Weber is free.")
        with pytest.raises(NothingToBook, match=r"no Dr\. No\. It has Dr\. Weber, Two and Four"):
            bookings.search(None, name="Dr. No")


def test_a_night_past_midnight_is_one_span(bookings: Bookings) -> None:
    bookings.configure(hours={"fri": [("20:00", "24:00")], "sat": [("00:00", "02:00")]})
    assert told(bookings, clock="23:30").startswith("Friday 27 November at 23:30: a table for 4 is free.")


NIGHT = {"fri": [("20:00", "24:00")], "sat": [("00:00", "04:00")]}


def test_a_night_continues_into_a_holiday(bookings: Bookings) -> None:
    """Hours past midnight belong to the day on which they began."""
    bookings.configure(hours=NIGHT, holidays=["2026-11-28"])
    assert told(bookings, date(2026, 11, 28), "01:00").startswith(
        "Saturday 28 November at 01:00: a table for 4 is free."
    )


def test_no_night_continues_out_of_a_holiday(bookings: Bookings) -> None:
    bookings.configure(hours=NIGHT, holidays=["2026-11-27"])
    assert "is a day on which it is closed" in refusal(bookings, Closed, date(2026, 11, 28), "01:00")


def test_projects_do_not_share_bookings(bookings: Bookings, stranger: Tenant) -> None:
    bookings.book(rome(27, "19:00"), 4)
    with stranger.tx():
        assert Bookings(stranger).search(4).on(FRIDAY, time(19)).is_free


# Clock changes in Rome: forward on 28 March 2027 at 02:00, back on 31 October 2027 at 03:00.


@pytest.fixture
def night(bookings: Bookings) -> Bookings:
    """A project that is open around the clock."""
    bookings.configure(hours={}, holidays=[])
    return bookings


def test_the_day_on_which_the_clocks_go_forward_has_23_hours(night: Bookings) -> None:
    with night.tenant.tx():
        starts = night.search(2).free_starts(date(2027, 3, 28))
    assert len(starts) == 23 * 4
    assert not [start for start in starts if start.hour == 2]


def test_a_time_that_the_clocks_skip_is_refused(night: Bookings) -> None:
    words = refusal(night, Closed, date(2027, 3, 28), "02:30")
    assert words.startswith("The clocks skip 02:30 on Sunday 28 March 2027. Free that day: ")


def test_the_day_on_which_the_clocks_go_back_has_25_hours(night: Bookings) -> None:
    with night.tenant.tx():
        assert len(night.search(2).free_starts(date(2027, 10, 31))) == 25 * 4


def test_a_booking_across_the_change_keeps_its_real_length(night: Bookings) -> None:
    """90 minutes from 01:30 end at 04:00 local time, and that time is free."""
    booking = night.book(rome(28, "01:30", month=3, year=2027), 4)
    assert booking.ends_at == rome(28, "04:00", month=3, year=2027)
    assert night.book(rome(28, "04:00", month=3, year=2027), 4).resource.name == "Four"


def test_opening_hours_are_local_on_both_sides_of_the_change(bookings: Bookings) -> None:
    """18:30 is 17:30 UTC in winter and 16:30 UTC in summer."""
    with bookings.tenant.tx():
        search = bookings.search(2)
        winter, summer = (search.on(day, time(18, 30)).requested for day in (date(2026, 12, 4), date(2027, 4, 2)))
    assert winter is not None
    assert summer is not None
    assert (winter.astimezone(UTC).hour, summer.astimezone(UTC).hour) == (17, 16)
