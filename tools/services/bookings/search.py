"""Searches for free times, and for alternatives near a taken one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import NoReturn
from uuid import UUID

from projects.models import Project
from projects.models.agent_config import AgentConfig
from tools.models import Resource
from tools.services.bookings.booking_request import BookingRequest, describe_request, matching_resources
from tools.services.bookings.date_words import day_words, moment_words, span_words, time_words, with_article
from tools.services.bookings.day_schedule import DaySchedule, load_day_schedule, slot_span
from tools.services.bookings.opening import Opening, Span
from tools.services.bookings.refusals import Closed, Past, SlotTaken, TooFar, Unbookable

HORIZON_DAYS = 365
LOOK_AHEAD_DAYS = 14
# Offered times are at least this far apart, so that they are a real choice.
APART = timedelta(minutes=30)
CLOSE_BY = timedelta(hours=3)
NEAR, OF_A_DAY, LATER = 4, 8, 3


@dataclass(frozen=True)
class SearchResult:
    """The result of a search, in the business's local time. `resource` is the one a booking at `requested` would get, if
    any.

    `near` holds other times of that day: the closest to `requested`, or a selection if no time was requested. `later` holds
    times of the next day that has any; it is filled only if `day` has none.
    """

    day: date
    requested: datetime | None
    resource: Resource | None
    near: Sequence[datetime]
    later: Sequence[datetime]
    words: str

    @property
    def is_free(self) -> bool:
        return self.resource is not None or (self.requested is None and bool(self.near))


@dataclass(frozen=True)
class Search:
    """A search for one request in one project. `busy` is when the business's own calendar is taken."""

    opening: Opening
    resources: Sequence[Resource]
    request: BookingRequest
    now: datetime
    excluding: UUID | None = None
    busy: Sequence[Span] = ()

    @property
    def today(self) -> date:
        return self.opening.local(self.now).date()

    @property
    def noun(self) -> str:
        return describe_request(self.request, self.resources)

    def on(self, day: date, clock: time | None = None) -> SearchResult:
        """Search a day, at or near a time. Raises Past, TooFar or Closed with alternatives."""
        self._check_day(day)
        schedule = self._schedule(day, day)
        moment = self._moment(day, clock, schedule) if clock else None
        return self._found(day, moment, schedule)

    def at(self, moment: datetime) -> SearchResult:
        """Search at and near a moment. Raises the same errors as `on`."""
        day = self.opening.local(moment).date()
        self._check_day(day)
        schedule = self._schedule(day, day)
        self._check_moment(moment, schedule)
        return self._found(day, moment, schedule)

    def slot_taken(self, found: SearchResult) -> SlotTaken:
        """Return the error for a time that is not free."""
        return SlotTaken(describe_result(found, today=self.today), field="starts_at")

    def free_starts(self, day: date) -> list[datetime]:
        """Return every free grid time of a day, local; none for a day that can't be booked."""
        last = self.today + timedelta(days=HORIZON_DAYS)
        if not self.today <= day <= last:
            return []
        return [self.opening.local(moment) for moment in self._schedule(day, day).free_starts(day)]

    def _found(self, day: date, moment: datetime | None, schedule: DaySchedule) -> SearchResult:
        resource = schedule.free_at(moment) if moment else None
        starts = [start for start in schedule.free_starts(day) if start != moment]
        # If the time itself is free, times that are almost the same are no alternative.
        near = nearest(starts, moment, NEAR, beside=resource is not None) if moment else spread(starts, OF_A_DAY)
        has_any = resource is not None or bool(starts)
        return SearchResult(
            day=day,
            requested=self.opening.local(moment) if moment else None,
            resource=resource,
            near=[self.opening.local(start) for start in near],
            later=[] if has_any else self._later(day, moment),
            words=describe_request(self.request, [resource] if resource else self.resources),
        )

    def _later(self, day: date, moment: datetime | None) -> list[datetime]:
        """Return times of the first later day that has any."""
        begin = max(day, self.today - timedelta(days=1))
        schedule = self._schedule(begin, begin + timedelta(days=LOOK_AHEAD_DAYS))
        for later in self.opening.open_days(begin, within=LOOK_AHEAD_DAYS):
            if starts := schedule.free_starts(later):
                same = self._same_time(later, moment) if moment else None
                chosen = nearest(starts, same, LATER) if same else spread(starts, LATER)
                return [self.opening.local(start) for start in chosen]
        return []

    def _same_time(self, day: date, moment: datetime) -> datetime | None:
        return self.opening.moment(datetime.combine(day, self.opening.local(moment).time()))

    def _check_day(self, day: date) -> None:
        last = self.today + timedelta(days=HORIZON_DAYS)
        words = day_words(day, today=self.today)
        if day < self.today:
            today = day_words(self.today, today=self.today)
            self._refuse(Past, f"{words} is past, today is {today}.", day)
        if day > last:
            raise TooFar(f"{words} is too far ahead: bookings are taken until {day_words(last, today=self.today)}.")
        if self.opening.is_closed_on(day):
            self._refuse(Closed, f"{words} is a day on which it is closed.", day)

    def _moment(self, day: date, clock: time, schedule: DaySchedule) -> datetime:
        local = datetime.combine(day, clock)
        moment = self.opening.moment(local)
        if moment is None:
            self._refuse(Closed, f"The clocks skip {time_words(local)} on {day_words(day, today=self.today)}.", day)
        self._check_moment(moment, schedule)
        return moment

    def _check_moment(self, moment: datetime, schedule: DaySchedule) -> None:
        local = self.opening.local(moment)
        words = moment_words(local, today=self.today)
        if moment < self.now:
            self._refuse(Past, f"{words} is past.", local.date(), moment)
        if any(self.opening.is_open_for(slot_span(resource, moment)) for resource in schedule.resources):
            return
        shortest = min(resource.slot_minutes for resource in schedule.resources)
        hours = span_words(self.opening.hours_of(local.date()))
        self._refuse(
            Closed,
            f"{words} can't be booked: it is open {hours}, and {with_article(self.noun)} takes {shortest} minutes."
            if hours
            else f"{words} is outside the opening hours.",
            local.date(),
            moment,
        )

    def _refuse(self, kind: type[Unbookable], why: str, day: date, moment: datetime | None = None) -> NoReturn:
        """Raise the error with the nearest free times."""
        if day >= self.today and not self.opening.is_closed_on(day):
            starts = self._schedule(day, day).free_starts(day)
            near = nearest(starts, moment, NEAR) if moment else spread(starts, OF_A_DAY)
            free = [self.opening.local(start) for start in near]
        else:
            free = []
        free = free or self._later(day, moment)
        raise kind(f"{why} {_offer(free, day=day, noun=self.noun, today=self.today)}", field="starts_at")

    def _schedule(self, first: date, last: date) -> DaySchedule:
        return load_day_schedule(
            self.opening, self.resources, first=first, last=last, now=self.now, excluding=self.excluding, busy=self.busy
        )


def new_search(
    project: Project,
    request: BookingRequest,
    *,
    now: datetime,
    excluding: UUID | None = None,
    busy: Sequence[Span] = (),
) -> Search:
    """Start a search. Raises NothingToBook or TooLarge."""
    return Search(
        opening=Opening(config_of(project)),
        resources=matching_resources(project, request),
        request=request,
        now=now,
        excluding=excluding,
        busy=busy,
    )


def config_of(project: Project) -> AgentConfig:
    """Return the agent's settings. Every project has a version from its creation on."""
    if project.agent_version is None:
        raise LookupError(f"Project {project.pk} has no settings.")
    config: AgentConfig = project.agent_version.config
    return config


def describe_result(found: SearchResult, *, today: date) -> str:
    """Describe a result for the agent."""
    if found.requested is None:
        head = day_words(found.day, today=today)
        if found.near:
            return f"{head}: {with_article(found.words)} is free at {_times(found.near)}."
        return f"{head}: no {found.words} is free any more. {_next(found, today=today)}"
    head = moment_words(found.requested, today=today)
    if found.is_free:
        also = f" Also free: {_times(found.near)}." if found.near else ""
        return f"{head}: {with_article(found.words)} is free.{also}"
    rest = f"Free that day: {_times(found.near)}." if found.near else _next(found, today=today)
    return f"{head}: no {found.words} is free. {rest}"


def nearest(starts: Sequence[datetime], moment: datetime, number: int, *, beside: bool = False) -> list[datetime]:
    """Return up to `number` times near a moment, in order and spaced apart; with `beside`, spaced from the moment as
    well.

    The earlier of two equally near times wins. Distant times are used only if none is near.
    """
    chosen: list[datetime] = []
    kept_from = [moment] if beside else []
    near = [start for start in starts if abs(start - moment) <= CLOSE_BY] or starts
    for start in sorted(near, key=lambda one: (abs(one - moment), one)):
        if all(abs(start - other) >= APART for other in (*chosen, *kept_from)):
            chosen.append(start)
        if len(chosen) == number:
            break
    return sorted(chosen)


def spread(starts: Sequence[datetime], number: int) -> list[datetime]:
    """Return up to `number` times that represent a whole day: the first, the last, and some evenly between."""
    apart: list[datetime] = []
    for start in starts:
        if not apart or start - apart[-1] >= APART:
            apart.append(start)
    if len(apart) <= number:
        return apart
    step = (len(apart) - 1) / (number - 1)
    return [apart[round(index * step)] for index in range(number)]


def _next(found: SearchResult, *, today: date) -> str:
    if not found.later:
        return f"Nothing is free in the {LOOK_AHEAD_DAYS} days after it either."
    return f"The next that are free: {day_words(found.later[0].date(), today=today)} at {_times(found.later)}."


def _offer(free: Sequence[datetime], *, day: date, noun: str, today: date) -> str:
    if not free:
        return f"No {noun} is free in the {LOOK_AHEAD_DAYS} days after it either."
    if free[0].date() == day:
        return f"Free that day: {_times(free)}."
    return f"The next that are free: {day_words(free[0].date(), today=today)} at {_times(free)}."


def _times(moments: Sequence[datetime]) -> str:
    return ", ".join(time_words(moment) for moment in moments)
