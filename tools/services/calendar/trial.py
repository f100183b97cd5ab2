"""Connection check for calendars: address, read access and write access."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext, ngettext

from projects.common.translation import lazy
from projects.connections.integrations import Connection
from projects.models import Project
from tenancy.scope import tenant_tx
from tools.services.bookings.opening import Opening, Span
from tools.services.bookings.search import LOOK_AHEAD_DAYS, config_of
from tools.services.calendar.availability import calendar_client
from tools.services.calendar.caldav_client import CalendarFailed
from tools.services.calendar.event_sync import catch_up

NO_CALENDAR = lazy(
    "There is no calendar at this address. Copy the address of the calendar itself, not of its owner or server."
)
READ_ONLY = lazy("This account can read the calendar but not write to it. Use an account that can do both.")


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
    sentence = (
        ngettext(
            "The calendar responded. It is taken %(number)s time in the next %(days)s days.",
            "The calendar responded. It is taken %(number)s times in the next %(days)s days.",
            len(busy),
        )
        if busy
        else gettext("The calendar responded. Nothing is taken in the next %(days)s days.")
    )
    return sentence % {"number": len(busy), "days": LOOK_AHEAD_DAYS}


def sync_missed(project: Project) -> str:
    """Plan the sync of bookings that the calendar missed, and describe it; "" if there are none."""
    with tenant_tx(project.organization.pk):
        number = catch_up(project)
    if not number:
        return ""
    sentence = ngettext(
        "%(number)s booking is being written to it.", "%(number)s bookings are being written to it.", number
    )
    return sentence % {"number": number}
