"""Recurrences expanded by us match those expanded by a real server."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tests.tools.bookings.conftest import Bookings
from tests.tools.calendar.radicale import Calendar
from tests.tools.calendar.scripted import document
from tests.tools.calendar.test_busy_times import AUTUMN, ROME, SPRING, taken
from tools.services.bookings.opening import Span
from tools.services.calendar.busy import UnreadableCalendar, busy_spans
from tools.services.calendar.recurrence import DayBudget, Rule, read_rule

NINE = (f"DTSTART;{ROME}:20260903T090000", "DURATION:PT1H")
NIGHT = (f"DTSTART;{ROME}:20261024T230000", f"DTEND;{ROME}:20261025T050000")
WHOLE_DAY = ("DTSTART;VALUE=DATE:20250328",)

RULES = [
    (NINE, "FREQ=DAILY"),
    (NINE, "FREQ=DAILY;INTERVAL=5"),
    (NINE, "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR"),
    (NINE, "FREQ=DAILY;COUNT=50"),
    (NINE, "FREQ=DAILY;UNTIL=20261022T065959Z"),
    (NINE, "FREQ=DAILY;UNTIL=20261022T070000Z"),
    (NINE, "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO,TH"),
    (NINE, "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO,TH;WKST=SU"),
    (NINE, "FREQ=WEEKLY;COUNT=9"),
    (NINE, "FREQ=WEEKLY;BYMONTH=11,3"),
    (NINE, "FREQ=MONTHLY"),
    (NINE, "FREQ=MONTHLY;BYMONTHDAY=31,-1,1"),
    (NINE, "FREQ=MONTHLY;BYMONTHDAY=-3"),
    (NINE, "FREQ=MONTHLY;BYMONTH=4"),
    (NINE, "FREQ=MONTHLY;BYDAY=-1SU,2TU,1WE"),
    (NINE, "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13,23"),
    (NINE, "FREQ=MONTHLY;INTERVAL=2"),
    (NINE, "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU"),
    (NINE, "FREQ=YEARLY;BYMONTH=3,10;BYMONTHDAY=28,25"),
    (WHOLE_DAY, "FREQ=YEARLY"),
    (WHOLE_DAY, "FREQ=YEARLY;INTERVAL=3"),
    (WHOLE_DAY, "FREQ=WEEKLY;UNTIL=20261025"),
    (WHOLE_DAY, "FREQ=MONTHLY;BYDAY=4SU"),
]


def ours(bookings: Bookings, text: str, window: Span) -> list[str]:
    """Return the busy times of an unexpanded document, as we expand it."""
    zone = ZoneInfo("Europe/Rome")
    spans = busy_spans([text], window, zone=zone, project_id=bookings.tenant.project.pk)
    return [
        f"{span.starts_at.astimezone(zone):%d.%m %H:%M}-{span.ends_at.astimezone(zone):%d.%m %H:%M}" for span in spans
    ]


@pytest.mark.parametrize(("lines", "rule"), RULES)
def test_a_rule_matches_a_real_server(
    bookings: Bookings, calendar: Calendar, lines: tuple[str, ...], rule: str
) -> None:
    """Around both clock changes."""
    calendar.add(*lines, f"RRULE:{rule}")
    for window in (AUTUMN, SPRING):
        assert ours(bookings, calendar.whole(), window) == taken(bookings, window)


def test_a_nightly_event_keeps_its_local_times_when_the_clocks_go_back(bookings: Bookings) -> None:
    """Seven hours in that night, six in any other."""
    assert ours(bookings, document(*NIGHT, "RRULE:FREQ=WEEKLY"), AUTUMN) == [
        "24.10 23:00-25.10 05:00",
        "31.10 23:00-01.11 05:00",
    ]


def test_exceptions_are_left_out_and_moved_occurrences_kept(bookings: Bookings, calendar: Calendar) -> None:
    calendar.add(
        *NINE,
        "RRULE:FREQ=WEEKLY",
        f"EXDATE;{ROME}:20261022T090000,20261105T090000",
        "END:VEVENT",
        "BEGIN:VEVENT",
        "UID:weekly",
        "DTSTAMP:20261101T000000Z",
        f"RECURRENCE-ID;{ROME}:20261029T090000",
        f"DTSTART;{ROME}:20261030T150000",
        "DURATION:PT2H",
        uid="weekly",
    )
    assert ours(bookings, calendar.whole(), AUTUMN) == taken(bookings, AUTUMN) == ["30.10 15:00-30.10 17:00"]


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY",
        "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYSETPOS=-1;BYDAY=MO",
        "FREQ=YEARLY;BYWEEKNO=20",
        "FREQ=YEARLY;BYDAY=20MO",
        "FREQ=WEEKLY;BYDAY=2MO",
        "FREQ=DAILY;BYHOUR=9",
        "FREQ=SOMETIMES",
        "INTERVAL=2",
    ],
)
def test_an_unsupported_rule_is_an_error(bookings: Bookings, rule: str) -> None:
    """Its busy times are unknown."""
    with pytest.raises(UnreadableCalendar):
        ours(bookings, document("DTSTART:20261020T090000Z", "DURATION:PT1H", f"RRULE:{rule}"), AUTUMN)


def test_a_series_without_a_zone_ends_in_the_business_zone(bookings: Bookings) -> None:
    """23:00 UTC is 08:00 the next morning in Tokyo, the last occurrence."""
    tokyo = ZoneInfo("Asia/Tokyo")
    event = document("DTSTART:20261020T080000", "DURATION:PT1H", "RRULE:FREQ=DAILY;UNTIL=20261026T230000Z")
    found = busy_spans([event], AUTUMN, zone=tokyo, project_id=bookings.tenant.project.pk)
    assert found[-1].starts_at.astimezone(tokyo) == datetime(2026, 10, 27, 8, tzinfo=tokyo)


def test_an_exception_for_all_later_occurrences_is_an_error(bookings: Bookings) -> None:
    """Its original times would count as busy, and the moved ones as free."""
    moved = (
        f"RECURRENCE-ID;RANGE=THISANDFUTURE;{ROME}:20261022T090000",
        f"DTSTART;{ROME}:20261022T150000",
        "DURATION:PT1H",
    )
    series = document(*NINE, "RRULE:FREQ=WEEKLY", "END:VEVENT", "BEGIN:VEVENT", "UID:x", *moved)
    with pytest.raises(UnreadableCalendar):
        ours(bookings, series, AUTUMN)


def test_a_series_can_have_many_exceptions(bookings: Bookings) -> None:
    """A weekly meeting over years has thirty cancellations."""
    off = (f"EXDATE;{ROME}:2026{month:02}{day:02}T090000" for month in (9, 10) for day in range(1, 22))
    assert ours(bookings, document(*NINE, "RRULE:FREQ=WEEKLY", *off), AUTUMN)[0] == "22.10 09:00-22.10 10:00"


def test_a_repeating_alarm_does_not_change_its_event(bookings: Bookings) -> None:
    """Lines of nested components are not the event's."""
    alarm = ("BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT15M", "REPEAT:2", "DURATION:PT5M", "END:VALARM")
    event = document(f"DTSTART;{ROME}:20261022T090000", *alarm, "DURATION:PT1H")
    assert ours(bookings, event, AUTUMN) == ["22.10 09:00-22.10 10:00"]


def test_an_interval_of_zero_counts_as_one(bookings: Bookings) -> None:
    """A malformed interval does not fail the whole calendar."""
    taken_daily = ours(
        bookings, document("DTSTART:20261020T090000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;INTERVAL=0"), AUTUMN
    )
    assert len(taken_daily) == 16


def test_a_count_that_is_too_expensive_is_an_error(bookings: Bookings) -> None:
    """Daily since 2010, 9,000 times."""
    with pytest.raises(UnreadableCalendar, match=r"more than 2,000 days.* It starts on 1 January 2010\."):
        ours(bookings, document("DTSTART:20100101T090000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=9000"), AUTUMN)


@pytest.mark.parametrize(("count", "days"), [(3, 0), (99_999, 16), (-1, 0)])
def test_counting_ends_with_the_last_occurrence(
    bookings: Bookings, monkeypatch: pytest.MonkeyPatch, count: int, days: int
) -> None:
    """A series of three days in the past costs three days."""
    asked = []
    falls_on = Rule.falls_on
    monkeypatch.setattr(Rule, "falls_on", lambda rule, day: asked.append(day) or falls_on(rule, day))
    series = document("DTSTART:20260101T090000Z", "DURATION:PT1H", f"RRULE:FREQ=DAILY;COUNT={count}")
    assert len(ours(bookings, series, AUTUMN)) == days
    assert len(asked) == (max(count, 0) if not days else 293 + 17)


def test_repeated_weekdays_cost_nothing() -> None:
    """A hundred hostile series may each repeat it a hundred times."""
    parts = {"FREQ": ["MONTHLY"], "BYDAY": ["5MO"] * 100}
    assert len(read_rule(parts, first=AUTUMN.starts_at, zone=ZoneInfo("UTC"), budget=DayBudget()).weekdays) == 1


def test_a_rule_that_never_matches_is_evaluated_only_within_the_window(
    bookings: Bookings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 February is not searched forever."""
    asked = []
    falls_on = Rule.falls_on
    monkeypatch.setattr(Rule, "falls_on", lambda rule, day: asked.append(day) or falls_on(rule, day))
    never = document("DTSTART:19700102T090000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30")
    assert ours(bookings, never, AUTUMN) == []
    assert 16 <= len(asked) <= 20
