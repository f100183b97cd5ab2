"""Opening hours: weekly hours and holidays of the agent's settings, in the project's time zone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import get_args
from zoneinfo import ZoneInfo

from projects.models.agent_config import AgentConfig, Day

DAYS: tuple[Day, ...] = get_args(Day)
ALWAYS = [("00:00", "24:00")]


@dataclass(frozen=True)
class Span:
    """A time span in UTC, so that its length is exact across clock changes."""

    starts_at: datetime
    ends_at: datetime

    def contains(self, other: Span) -> bool:
        return self.starts_at <= other.starts_at and other.ends_at <= self.ends_at

    def overlaps(self, other: Span) -> bool:
        """Return True if the spans overlap; spans that only touch do not."""
        return self.starts_at < other.ends_at and other.starts_at < self.ends_at


@dataclass(frozen=True)
class Opening:
    """Opening hours of a business."""

    config: AgentConfig

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.config.timezone)

    def is_closed_on(self, day: date) -> bool:
        return not self.hours_of(day)

    def hours_of(self, day: date) -> list[tuple[str, str]]:
        """Return the local opening times of a day. Without any hours set, the business is always open except on
        holidays.

        Hours past midnight belong to the day on which they began: they continue into a holiday, but not out of one.
        """
        usual, before = self._usual(day), day - timedelta(days=1)
        night = _end_of_night(self._usual(before), usual)
        return [
            *(night if before not in self.config.holidays else []),
            *(usual[len(night) :] if day not in self.config.holidays else []),
        ]

    def _usual(self, day: date) -> list[tuple[str, str]]:
        """Return the times of the day's weekday."""
        return self.config.hours.get(DAYS[day.weekday()], []) if self.config.hours else ALWAYS

    def spans_of(self, day: date) -> list[Span]:
        return [Span(self._moment(day, opens), self._moment(day, closes)) for opens, closes in self.hours_of(day)]

    def spans_around(self, day: date) -> list[Span]:
        """Return the spans that overlap a day. A night past midnight is one span."""
        joined: list[Span] = []
        for near in (day - timedelta(days=1), day, day + timedelta(days=1)):
            for span in self.spans_of(near):
                if joined and joined[-1].ends_at == span.starts_at:
                    joined[-1] = Span(joined[-1].starts_at, span.ends_at)
                else:
                    joined.append(span)
        day_span = self.day_span(day)
        return [span for span in joined if span.overlaps(day_span)]

    def day_span(self, day: date) -> Span:
        """Return a day from midnight to midnight: 23, 24 or 25 hours."""
        return Span(self._moment(day, "00:00"), self._moment(day, "24:00"))

    def is_open_for(self, wanted: Span) -> bool:
        """Return True if the business is open for the whole span."""
        day = self.local(wanted.starts_at).date()
        return any(span.contains(wanted) for span in self.spans_around(day))

    def open_days(self, after: date, *, within: int) -> Iterator[date]:
        """Yield the open days among the next `within` days."""
        days = (after + timedelta(days=number) for number in range(1, within + 1))
        return (day for day in days if not self.is_closed_on(day))

    def local(self, moment: datetime) -> datetime:
        """Convert a moment to the business's local time."""
        return moment.astimezone(self.zone)

    def moment(self, local: datetime) -> datetime | None:
        """Convert a naive local time to UTC, using the first of two when the clocks go back.

        Returns None for a time that the clocks skip.
        """
        moment = local.replace(tzinfo=self.zone, fold=0).astimezone(UTC)
        return moment if self.local(moment).replace(tzinfo=None) == local else None

    def _moment(self, day: date, clock: str) -> datetime:
        """Convert a configured time of day to UTC. If the clocks skip it, it is as long after midnight as on any other
        day.
        """
        if clock == "24:00":
            day, clock = day + timedelta(days=1), "00:00"
        return datetime.combine(day, time.fromisoformat(clock), tzinfo=self.zone).astimezone(UTC)


def _end_of_night(before: list[tuple[str, str]], usual: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the opening times that continue the previous evening's. A business that is open around the clock has none."""
    is_evening = bool(before) and before[-1][1] == "24:00" and before[-1][0] != "00:00"
    goes_on = bool(usual) and usual[0][0] == "00:00" and usual[0][1] != "24:00"
    return usual[:1] if is_evening and goes_on else []
