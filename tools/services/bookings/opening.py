"""When the business is open, as moments: hours and holidays of the agent's settings in the project's time zone."""

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
    """From a moment to a moment, both in UTC, so that its length is real even where the clocks change."""

    starts_at: datetime
    ends_at: datetime

    def holds(self, other: Span) -> bool:
        return self.starts_at <= other.starts_at and other.ends_at <= self.ends_at

    def meets(self, other: Span) -> bool:
        """Whether they share a moment; one may begin when the other ends."""
        return self.starts_at < other.ends_at and other.starts_at < self.ends_at


@dataclass(frozen=True)
class Opening:
    """The opening hours of one business."""

    config: AgentConfig

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.config.timezone)

    def is_closed_on(self, day: date) -> bool:
        return not self.hours_of(day)

    def hours_of(self, day: date) -> list[tuple[str, str]]:
        """The local times of a day, as they are set; without any hours set, it is always open but on holidays.

        The night past midnight is of the day on which it began: it goes on into a holiday, and not out of one.
        """
        usual, before = self._usual(day), day - timedelta(days=1)
        night = _end_of_night(self._usual(before), usual)
        return [
            *(night if before not in self.config.holidays else []),
            *(usual[len(night) :] if day not in self.config.holidays else []),
        ]

    def _usual(self, day: date) -> list[tuple[str, str]]:
        """The times of its weekday."""
        return self.config.hours.get(DAYS[day.weekday()], []) if self.config.hours else ALWAYS

    def spans_of(self, day: date) -> list[Span]:
        """A day's spans."""
        return [Span(self._moment(day, opens), self._moment(day, closes)) for opens, closes in self.hours_of(day)]

    def spans_around(self, day: date) -> list[Span]:
        """The spans that touch a day, where a night past midnight is one span and not two."""
        joined: list[Span] = []
        for near in (day - timedelta(days=1), day, day + timedelta(days=1)):
            for span in self.spans_of(near):
                if joined and joined[-1].ends_at == span.starts_at:
                    joined[-1] = Span(joined[-1].starts_at, span.ends_at)
                else:
                    joined.append(span)
        whole = self.whole(day)
        return [span for span in joined if span.meets(whole)]

    def whole(self, day: date) -> Span:
        """A day from midnight to midnight: 23, 24 or 25 hours."""
        return Span(self._moment(day, "00:00"), self._moment(day, "24:00"))

    def is_open_for(self, wanted: Span) -> bool:
        """Whether it is open from the first to the last moment of a span."""
        day = self.local(wanted.starts_at).date()
        return any(span.holds(wanted) for span in self.spans_around(day))

    def open_days(self, after: date, *, within: int) -> Iterator[date]:
        """The open days among the next `within` days."""
        days = (after + timedelta(days=number) for number in range(1, within + 1))
        return (day for day in days if not self.is_closed_on(day))

    def local(self, moment: datetime) -> datetime:
        """A moment by the clocks of the business."""
        return moment.astimezone(self.zone)

    def moment(self, local: datetime) -> datetime | None:
        """The UTC moment of a local date and time without a zone; the first of two when clocks go back.

        None for a time that clocks going forward leave out.
        """
        moment = local.replace(tzinfo=self.zone, fold=0).astimezone(UTC)
        return moment if self.local(moment).replace(tzinfo=None) == local else None

    def _moment(self, day: date, clock: str) -> datetime:
        """A time of day that is set; one that the clocks skip is as long after midnight as on any other day."""
        if clock == "24:00":
            day, clock = day + timedelta(days=1), "00:00"
        return datetime.combine(day, time.fromisoformat(clock), tzinfo=self.zone).astimezone(UTC)


def _end_of_night(before: list[tuple[str, str]], usual: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """What of a day's times is the end of the night before, which began in its evening. A business that is open around the clock
    has no nights.
    """
    is_evening = bool(before) and before[-1][1] == "24:00" and before[-1][0] != "00:00"
    goes_on = bool(usual) and usual[0][0] == "00:00" and usual[0][1] != "24:00"
    return usual[:1] if is_evening and goes_on else []
