"""Booking texts in the customer's language, for the booking page and the portal."""

from __future__ import annotations

from datetime import date, datetime

from django.conf import settings
from django.utils.formats import date_format
from django.utils.translation import get_language, gettext, ngettext

from projects.models import Project
from projects.widget.languages import customer_language
from tools.engine.hooks import read_contact
from tools.models import Booking, ResourceKind
from tools.services.bookings.date_words import time_words
from tools.services.bookings.formatting import booking_words
from tools.services.bookings.opening import Opening
from tools.services.bookings.search import config_of


def language_of(booking: Booking, *, asked: str) -> str:
    """Return the customer's language; the browser's language `asked` is the last resort. Must run in the tenant's
    transaction.
    """
    contact = read_contact(booking.persona_id)
    return customer_language(booking.project_id, known=contact.language if contact else "", asked=asked)


def is_english() -> bool:
    return get_language() == settings.LANGUAGE_CODE


def long_day(day: date, *, today: date) -> str:
    """Friday 27 November, Freitag 27. November; with the year if it is not the current one."""
    return f"{date_format(day, 'l')} {month_day(day, today=today)}"


def month_day(day: date, *, today: date) -> str:
    """The date without the weekday. English uses the agent's format."""
    wanted = ("j F", "j F Y") if is_english() else ("MONTH_DAY_FORMAT", "DATE_FORMAT")
    return date_format(day, wanted[0] if day.year == today.year else wanted[1])


def moment(local: datetime, *, today: date) -> str:
    day = long_day(local.date(), today=today)
    return gettext("%(day)s at %(time)s") % {"day": day, "time": time_words(local)}


def people(number: int) -> str:
    return ngettext("%(count)s person", "%(count)s people", number) % {"count": number}


def customer_line(booking: Booking, project: Project, *, now: datetime) -> str:
    """A booking in one line for its customer: venerdì 27 novembre alle 19:00, 4 persone, K7M2QX."""
    if is_english():
        return booking_words(booking, project, now=now)
    opening = Opening(config_of(project))
    when = moment(opening.local(booking.starts_at), today=opening.local(now).date())
    is_table = booking.resource.kind == ResourceKind.TABLE
    what = people(booking.party_size) if is_table else booking.resource.name
    return f"{when}, {what}, {booking.code}"
