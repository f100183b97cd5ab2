"""Calendar checks made right before a tool offers or books a time.

The bookings in our database are the truth. If the calendar can't be reached, all times free in our database are
offered, and the agent is told that the calendar was not checked (docs/decisions/016).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings

from outbound.guard import Guard
from projects.common.crypto import WrongSecret
from projects.connections.integrations import Connection, mark_needs_reauth, open_source
from projects.models import Project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.handler import Execute, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.bookings.clock import read_day
from tools.services.bookings.handler_adapter import A, transactional_handler
from tools.services.bookings.opening import Span
from tools.services.bookings.refusals import InvalidTime
from tools.services.bookings.search import LOOK_AHEAD_DAYS
from tools.services.calendar.caldav_client import Calendar, CalendarFailed, SignInRefused

log = logging.getLogger(__name__)

KIND = "caldav"
# Safe to say to a customer. The cause is in the result, for staff.
NOT_CHECKED = "Our calendar can’t be seen at the moment, so this goes by our booking book alone."


@dataclass(frozen=True)
class CalendarView:
    """The busy times that a check found. If it failed, `note` tells the agent and `problem` tells staff why."""

    busy: Sequence[Span] = ()
    note: str = ""
    problem: str = ""
    needs_reauth: bool = False

    def annotate(self, outcome: Outcome) -> Outcome:
        """Add the note and the problem, if any, to a tool's outcome."""
        if not self.note:
            return outcome
        notes = {"calendar": self.problem, **({"needs_reauth": True} if self.needs_reauth else {})}
        return replace(outcome, told=f"{outcome.told} {self.note}".strip(), result={**outcome.result, **notes})


# A handler's body, run in the transaction with the calendar as it was just seen.
CalendarAwareBody = Callable[[Project, A, ToolContext, CalendarView], Outcome]


def calendar_aware_handler(model: type[A], body: CalendarAwareBody[A]) -> Execute:
    """Return an `execute` that checks the connected calendar, within five seconds, and then runs the body on our rows.

    No transaction is open during the check; the body uses its result.
    """

    async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
        view = await check_calendar(context, day=_day_of(arguments))

        def body_with_view(project: Project, validated: A, context: ToolContext) -> Outcome:
            return body(project, validated, context, view)

        return view.annotate(await transactional_handler(model, body_with_view)(arguments, context))

    return execute


class CalendarScope(Protocol):
    """The scope of a check: a tool's context, or a customer on their booking page."""

    @property
    def organization_id(self) -> UUID: ...
    @property
    def project_id(self) -> UUID: ...
    @property
    def timezone(self) -> str: ...
    @property
    def at(self) -> datetime: ...


async def check_calendar(scope: CalendarScope, *, day: date | None) -> CalendarView:
    """Return the busy times from a day to the end of the offered range; empty if no calendar is connected or no day is
    given.
    """
    if day is None:
        return CalendarView()
    try:
        connection = await in_db(_open, scope.organization_id, scope.project_id)
    except WrongSecret:
        log.error("The calendar of project %s can't be opened: its secret has another key.", scope.project_id)
        return CalendarView(
            note=NOT_CHECKED, problem="The calendar’s password can’t be read. Connect it again.", needs_reauth=True
        )
    if connection is None:
        return CalendarView()
    if connection.needs_reauth:
        return CalendarView(note=NOT_CHECKED, problem="The calendar must be connected again.", needs_reauth=True)
    return await _check(connection, scope, window_of(day, scope))


async def _check(connection: Connection, scope: CalendarScope, window: Span) -> CalendarView:
    calendar = calendar_client(connection)
    try:
        busy = await calendar.busy(window, zone=ZoneInfo(scope.timezone), project_id=scope.project_id)
    except SignInRefused as error:
        await in_db(request_reconnect, scope.organization_id, connection)
        return CalendarView(note=NOT_CHECKED, problem=str(error), needs_reauth=True)
    except CalendarFailed as error:
        log.warning("The calendar of project %s was not looked at: %s", scope.project_id, error)
        return CalendarView(note=NOT_CHECKED, problem=str(error))
    return CalendarView(busy=busy)


def window_of(day: date, scope: CalendarScope) -> Span:
    """Return the range of days offered for a requested day. Past days are not checked."""
    zone = ZoneInfo(scope.timezone)
    first = max(day, scope.at.astimezone(zone).date() - timedelta(days=1))
    last = first + timedelta(days=LOOK_AHEAD_DAYS + 2)
    starts, ends = (datetime.combine(one, time.min, tzinfo=zone).astimezone(UTC) for one in (first, last))
    return Span(starts, ends)


def calendar_client(connection: Connection) -> Calendar:
    return Calendar(connection, guard=Guard(allow=settings.OUTBOUND_ALLOW))


def request_reconnect(organization_id: UUID, tried: Connection) -> None:
    """Notify staff, once, that the calendar must be reconnected."""
    with tenant_tx(organization_id):
        if mark_needs_reauth(tried.source_id, tried=tried):
            log.warning("The calendar %s has to be connected again.", tried.source_id)


def _open(organization_id: UUID, project_id: UUID) -> Connection | None:
    with tenant_tx(organization_id):
        return open_source(project_id, KIND)


def _day_of(arguments: Mapping[str, Any]) -> date | None:
    """Return the day that the model named. An invalid one is rejected by the handler's body."""
    try:
        return read_day(arguments["date"]) if isinstance(arguments.get("date"), str) else None
    except InvalidTime:
        return None
