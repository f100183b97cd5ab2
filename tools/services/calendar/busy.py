"""Busy times, read from a calendar's events."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from icalendar import Component, Event

from tools.services.bookings.opening import Span
from tools.services.calendar.event import is_own_event
from tools.services.calendar.occurrences import (
    MALFORMED,
    event_span,
    is_free,
    is_series,
    replaced_start,
    series_spans,
    start_day,
)
from tools.services.calendar.recurrence import DayBudget, RuleNotUnderstood

log = logging.getLogger(__name__)

# Limits per calendar. Reading a line or an excluded time takes about 30 microseconds.
MOST_EVENTS, MOST_SERIES, MOST_EXCLUDED = 1000, 100, 2_000
MOST_READ_LINES, MOST_READ = 8_000, 512 * 1024
# Limits per event. EXDATE lines are exempt from the first two, because a series may have many exceptions.
MOST_LINES, LONGEST_LINE, LONGEST_EVENT = 20, 500, 64 * 1024
FOLD = re.compile(r"\r?\n[ \t]")
# Properties that are read. VTIMEZONE rules are ignored because they may never end; zones are resolved by name.
READ = frozenset(
    {"UID", "DTSTART", "DTEND", "DURATION", "TRANSP", "STATUS", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID"}
)


class UnreadableCalendar(Exception):
    """The calendar's response can't be used; the message says why."""


def busy_spans(documents: Iterable[str], window: Span, *, zone: ZoneInfo, project_id: UUID) -> list[Span]:
    """Return the busy spans within a window, sorted and merged, from iCalendar documents. The project's own bookings
    are left out. Raises NotUnderstood.

    Malformed events are skipped and logged. An unsupported recurrence rule is an error, because it could hide many
    events.
    """
    reader = _Reader(window, zone, project_id)
    for document in documents:
        reader.read(document)
    return merge_spans(reader.found)


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Sort spans, and merge those that overlap or touch."""
    result: list[Span] = []
    for span in sorted(spans, key=lambda one: one.starts_at):
        if result and span.starts_at <= result[-1].ends_at:
            result[-1] = Span(result[-1].starts_at, max(result[-1].ends_at, span.ends_at))
        else:
            result.append(span)
    return result


class _Reader:
    """Collects the busy spans of documents, within the limits."""

    def __init__(self, window: Span, zone: ZoneInfo, project_id: UUID) -> None:
        self.found: list[Span] = []
        self._window, self._zone, self._project_id = window, zone, project_id
        self._events = self._series = self._excluded = self._lines = self._length = 0
        self._budget = DayBudget()

    def read(self, document: str) -> None:
        """Read one document: an event, or a series with its modified occurrences."""
        events = [event for lines in _events(document) if (event := self._event(lines)) is not None]
        replaced: set[datetime] | None = None
        for event in events:
            try:
                if replaced is None and is_series(event):
                    replaced = self._replaced_starts(events)
                times = self._times(event, replaced or set())
                self.found += [span for span in times if span.overlaps(self._window)]
            except RuleNotUnderstood as error:
                raise UnreadableCalendar(f"{error}{_where(event)}") from None
            except MALFORMED as error:
                _log_skipped(error)

    def _event(self, lines: Sequence[str]) -> Component | None:
        if is_own_event(_uid(lines), self._project_id):
            return None
        self._events += 1
        if self._events > MOST_EVENTS:
            raise UnreadableCalendar(f"The calendar has more than {MOST_EVENTS} events in this period.")
        if _is_oversized(lines):
            raise UnreadableCalendar("The calendar has an event that is too large.")
        self._check_size(lines)
        try:
            return Event.from_ical("\r\n".join(["BEGIN:VEVENT", *lines, "END:VEVENT", ""]))
        except MALFORMED as error:
            _log_skipped(error)
            return None

    def _check_size(self, lines: Sequence[str]) -> None:
        """Add the event's lines to the calendar's total. Raises UnreadableCalendar."""
        self._lines += len(lines)
        self._length += sum(map(len, lines))
        self._excluded += sum(line.count(",") + 1 for line in lines if line.upper().startswith("EXDATE"))
        if self._excluded > MOST_EXCLUDED:
            raise UnreadableCalendar(
                f"The recurring events of the calendar have more than {MOST_EXCLUDED:,} exceptions. "
                "Start them again from today."
            )
        if self._lines > MOST_READ_LINES or self._length > MOST_READ:
            raise UnreadableCalendar("The events of the calendar are too large together.")

    def _replaced_starts(self, events: Iterable[Component]) -> set[datetime]:
        found = set()
        for event in events:
            try:
                found.add(replaced_start(event, self._zone))
            except MALFORMED as error:
                _log_skipped(error)
        return {at for at in found if at is not None}

    def _times(self, event: Component, replaced: Collection[datetime]) -> list[Span]:
        if is_free(event):
            return []
        if not is_series(event):
            span = event_span(event, self._zone)
            return [span] if span else []
        self._series += 1
        if self._series > MOST_SERIES:
            raise UnreadableCalendar(f"The calendar has more than {MOST_SERIES} recurring events.")
        return list(series_spans(event, self._window, self._zone, but=replaced, budget=self._budget))


def _events(document: str) -> Iterator[list[str]]:
    """Yield the relevant lines of each event in one pass. Nested components such as alarms are skipped."""
    within: list[str] = []
    lines: list[str] = []
    for line in FOLD.sub("", document).split("\n"):
        name, _, value = line.rstrip("\r").partition(":")
        name = name.upper()
        if name == "BEGIN":
            within.append(value.strip().upper())
            lines = [] if within[-1] == "VEVENT" else lines
        elif name == "END" and within:
            if within.pop() == "VEVENT":
                yield lines
        elif within[-1:] == ["VEVENT"] and name.partition(";")[0] in READ:
            lines.append(line.rstrip("\r"))


def _is_oversized(lines: Sequence[str]) -> bool:
    usual = [line for line in lines if not line.upper().startswith("EXDATE")]
    is_long = len(usual) > MOST_LINES or any(len(line) > LONGEST_LINE for line in usual)
    return is_long or sum(map(len, lines)) > LONGEST_EVENT


def _uid(lines: Iterable[str]) -> str:
    return next((line.partition(":")[2] for line in lines if line[:4].upper() in ("UID:", "UID;")), "")


def _where(event: Component) -> str:
    return f" It starts on {day}." if (day := start_day(event)) else ""


def _log_skipped(error: Exception) -> None:
    log.warning("An event of a connected calendar was left out: %s", type(error).__name__)
