"""A hostile calendar of 32 kB costs a fixed amount of CPU, in threads of the calendars alone."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from types import ModuleType
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from outbound.fair_threads import FairThreads
from outbound.tenant import on_behalf_of
from tests.tools.calendar.scripted import document
from tools.services.bookings.opening import Span
from tools.services.calendar import busy, caldav_client, recurrence
from tools.services.calendar.busy import MOST_EVENTS, MOST_EXCLUDED, UnreadableCalendar, busy_spans
from tools.services.calendar.recurrence import LONGEST_COUNT, MOST_DAYS, Rule

WINDOW = Span(datetime(2026, 11, 24, tzinfo=UTC), datetime(2026, 12, 10, tzinfo=UTC))
ROME = ZoneInfo("Europe/Rome")
HOUR = "DURATION:PT1H"
# Nearly as long ago as occurrences are counted.
LONG_AGO = f"DTSTART:{WINDOW.starts_at - timedelta(days=LONGEST_COUNT - 20):%Y%m%d}T090000Z"
NUMBERED = ",".join(f"{number}{day}" for number in range(-5, 6) if number for day in ("MO", "TU", "WE", "TH", "FR"))
DATES = ",".join(["20261127T100000Z"] * 500)


def read(*documents: str) -> list[Span]:
    return busy_spans(documents, WINDOW, zone=ROME, project_id=uuid4())


class Counted:
    """Counts the calls of a function."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: type | ModuleType, name: str) -> None:
        self.number = 0
        self._function = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given: self._call(*given))

    def _call(self, *given: object) -> object:
        self.number += 1
        return self._function(*given)


@pytest.mark.parametrize("rule", [f"FREQ=MONTHLY;BYDAY={NUMBERED}", "FREQ=DAILY;BYMONTHDAY=-31,-30,-29"])
def test_many_series_to_count_look_at_no_more_days_than_allowed(monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    """Ninety series looked at 180,000 days."""
    months = Counted(monkeypatch, recurrence, "monthrange")
    hostile = document(LONG_AGO, HOUR, f"RRULE:{rule};COUNT=99999")
    with pytest.raises(UnreadableCalendar, match="over too many days to count"):
        read(hostile * 90)
    assert 0 < months.number <= MOST_DAYS


def test_many_counted_series_that_have_ended_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    days = Counted(monkeypatch, Rule, "falls_on")
    assert read(document(LONG_AGO, HOUR, "RRULE:FREQ=WEEKLY;COUNT=10") * 90) == []
    assert 0 < days.number <= 90 * 70


@pytest.mark.parametrize(
    ("lines", "number"),
    [([f"EXDATE:{DATES}"], 5), (["EXDATE:20261127T100000Z"] * 1_000, 3)],
    ids=["in one line", "in many lines"],
)
def test_the_exceptions_of_a_calendar_have_a_limit(lines: list[str], number: int) -> None:
    """Nearly two megabytes of them took three seconds."""
    with pytest.raises(UnreadableCalendar, match=f"more than {MOST_EXCLUDED:,} exceptions"):
        read(document(LONG_AGO, HOUR, "RRULE:FREQ=DAILY", *lines) * number)


def test_exceptions_up_to_the_limit_are_read() -> None:
    """Five hundred canceled days in each of four series."""
    spans = read(document(LONG_AGO, HOUR, "RRULE:FREQ=DAILY", f"EXDATE:{DATES}") * 4)
    assert len(spans) == 16


@pytest.mark.parametrize(
    "lines",
    [["UID:a"] * 18, ["DTSTART;X=" + "a" * 460 + ":20261127T090000Z"] * 8],
    ids=["many lines", "long lines"],
)
def test_the_lines_of_all_events_have_a_limit(lines: list[str]) -> None:
    with pytest.raises(UnreadableCalendar, match="too large together"):
        read(document(*lines) * 900)


def test_a_moved_occurrence_is_read_once_for_all_series(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 90 series read all 600 of them, malformed ones too."""
    starts = Counted(monkeypatch, busy, "replaced_start")
    moved = document("RECURRENCE-ID:never", LONG_AGO) * 600
    assert read(document(LONG_AGO, HOUR, "RRULE:FREQ=DAILY") * 90 + moved)
    assert starts.number <= MOST_EVENTS


def test_a_finer_rule_than_a_day_is_refused_with_its_event() -> None:
    with pytest.raises(UnreadableCalendar, match=r"unsupported recurrence rule.* It starts on 27 November 2026\."):
        read(document("DTSTART:20261127T180000Z", HOUR, "RRULE:FREQ=SECONDLY"))


async def test_calendars_of_one_tenant_leave_threads_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caldav_client, "_threads", FairThreads(4, name="calendar"))
    end = threading.Event()
    with on_behalf_of(uuid4()):
        slow = [asyncio.create_task(caldav_client._in_thread(lambda: end.wait(60))) for _ in range(40)]
    await asyncio.sleep(0)
    with on_behalf_of(uuid4()):
        found = caldav_client._in_thread(lambda: threading.current_thread().name)
        assert (await asyncio.wait_for(found, 30)).startswith("calendar")
    assert not any(task.done() for task in slow)
    end.set()
    await asyncio.gather(*slow)
