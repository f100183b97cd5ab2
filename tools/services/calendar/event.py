"""Calendar events of bookings, under a stable name and UID."""

from __future__ import annotations

from datetime import UTC, datetime
from unicodedata import category
from uuid import UUID

from icalendar import Calendar, Event

from projects.models import Project
from tools.models import Booking, BookingKind
from tools.services.bookings.booking_request import BookingRequest, describe_request

PRODUCT = "-//Makegood//Bookings//EN"
# Control characters, and line separators that iCalendar does not treat as line ends.
NOT_ALLOWED = frozenset({"Cc", "Zl", "Zp"})
LAYOUT = "\r\n\t"


def event_uid(booking: Booking) -> str:
    """Return the event's UID. It never changes, so that writing the event again creates no duplicate."""
    return f"{booking.pk}@{_uid_domain(booking.project_id)}"


def event_name(booking: Booking) -> str:
    """Return the name of the event's calendar resource."""
    return f"makegood-{booking.pk}.ics"


def is_own_event(uid: str, project_id: UUID) -> bool:
    """Return True if the UID belongs to one of the project's own bookings; for those our database is the truth."""
    return uid.endswith(f"@{_uid_domain(project_id)}")


def build_event(booking: Booking, project: Project, *, at: datetime) -> bytes:
    """Render the booking as an iCalendar document. `at` is the time of writing."""
    event = Event()
    event.add("uid", event_uid(booking))
    event.add("dtstamp", at.astimezone(UTC))
    event.add("dtstart", booking.starts_at.astimezone(UTC))
    event.add("dtend", booking.ends_at.astimezone(UTC))
    event.add("summary", _sanitized(_summary(booking)))
    event.add("description", _sanitized(_description(booking, project)))
    event.add("status", "CONFIRMED")
    event.add("transp", "OPAQUE")
    calendar = Calendar()
    calendar.add("version", "2.0")
    calendar.add("prodid", PRODUCT)
    calendar.add_component(event)
    written: bytes = calendar.to_ical()
    return written


def _sanitized(text: str) -> str:
    """Replace characters that an event can't contain (RFC 5545, 3.3.11), such as those pasted from a word processor,
    with spaces.
    """
    return "".join(" " if category(one) in NOT_ALLOWED and one not in LAYOUT else one for one in text)


def _uid_domain(project_id: UUID) -> str:
    return f"{project_id}.makegood"


def _summary(booking: Booking) -> str:
    """Table for 4: Ada Lovelace"""
    request = BookingRequest(party_size=booking.party_size, kind=BookingKind(booking.kind), name=booking.resource.name)
    description = describe_request(request, [booking.resource])
    return f"{description[:1].upper()}{description[1:]}{f': {booking.name}' if booking.name else ''}"


def _description(booking: Booking, project: Project) -> str:
    lines = [
        ("About", booking.title),
        ("Where", booking.resource.name),
        ("Phone", booking.phone),
        ("E-mail", booking.email),
        ("Notes", booking.notes),
        ("Code", booking.code),
    ]
    filled = [f"{name}: {text}" for name, text in lines if text]
    return "\n".join([*filled, f"Booked with {project.name}. Change it there. Changes made here have no effect."])
