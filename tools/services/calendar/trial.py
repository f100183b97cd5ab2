"""Connection check for calendars: address, read access and write access."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from projects.connections.integrations import Connection
from projects.models import Project
from tenancy.scope import tenant_tx
from tools.services.bookings.opening import Opening, Span
from tools.services.bookings.search import LOOK_AHEAD_DAYS, config_of
from tools.services.calendar.availability import calendar_client
from tools.services.calendar.caldav_client import CalendarFailed
from tools.services.calendar.event_sync import catch_up

NO_CALENDAR = (
    "There is no calendar at this address. Copy the address of the calendar itself, not of its owner or server."
)
READ_ONLY = "This account can read the calendar but not write to it. Use an account that can do both."


async def check_calendar(connection: Connection, project: Project) -> str:
    """Check the calendar, and describe the result in a sentence. No transaction may be open. Raises CalendarFailed."""
    calendar = calendar_client(connection)
    info = await calendar.info()
    if not info.is_calendar:
        raise CalendarFailed(NO_CALENDAR)
    now = timezone.now()
    window = Span(now, now + timedelta(days=LOOK_AHEAD_DAYS))
    busy = await calendar.busy(window, zone=Opening(config_of(project)).zone, project_id=project.pk)
    if info.may_write is False:
        raise CalendarFailed(READ_ONLY)
    taken = "nothing is taken" if not busy else f"it is taken {len(busy)} time{'s' if len(busy) > 1 else ''}"
    return f"The calendar responded: {taken} in the next {LOOK_AHEAD_DAYS} days."


def sync_missed(project: Project) -> str:
    """Plan the sync of bookings that the calendar missed, and describe it; "" if there are none."""
    with tenant_tx(project.organization.pk):
        number = catch_up(project)
    return f"{number} booking{'s are' if number > 1 else ' is'} being written to it." if number else ""
