"""A booking as one event of the project's calendar, by a name that it keeps."""

from __future__ import annotations

from datetime import UTC, datetime
from unicodedata import category
from uuid import UUID

from icalendar import Calendar, Event

from projects.models import Project
from tools.models import Booking, BookingKind
from tools.services.bookings.booking_request import Wish, phrase

PRODUCT = "-//Makegood//Bookings//EN"
# Control characters, and the line ends that are no line's end in an event.
UNWRITABLE = frozenset({"Cc", "Zl", "Zp"})
LAYOUT = "\r\n\t"


def event_uid(booking: Booking) -> str:
    """The event's UID, the same at every writing, so that writing it again makes no second one."""
    return f"{booking.pk}@{_mark(booking.project_id)}"


def event_name(booking: Booking) -> str:
    """The name of the event's resource in the calendar."""
    return f"makegood-{booking.pk}.ics"


def is_own(uid: str, project_id: UUID) -> bool:
    """Whether an event is one of the project's own bookings: those stand in the book, which is the truth about them."""
    return uid.endswith(f"@{_mark(project_id)}")


def event_of(booking: Booking, project: Project, *, at: datetime) -> bytes:
    """The event, as it is written: who comes and for what, in the calendar's own format. `at` is when it was written."""
    event = Event()
    event.add("uid", event_uid(booking))
    event.add("dtstamp", at.astimezone(UTC))
    event.add("dtstart", booking.starts_at.astimezone(UTC))
    event.add("dtend", booking.ends_at.astimezone(UTC))
    event.add("summary", _writable(_summary(booking)))
    event.add("description", _writable(_description(booking, project)))
    event.add("status", "CONFIRMED")
    event.add("transp", "OPAQUE")
    calendar = Calendar()
    calendar.add("version", "2.0")
    calendar.add("prodid", PRODUCT)
    calendar.add_component(event)
    written: bytes = calendar.to_ical()
    return written


def _writable(text: str) -> str:
    """A text as an event may hold it (RFC 5545, 3.3.11): what a paste from a word processor left between words is a space."""
    return "".join(" " if category(one) in UNWRITABLE and one not in LAYOUT else one for one in text)


def _mark(project_id: UUID) -> str:
    return f"{project_id}.makegood"


def _summary(booking: Booking) -> str:
    """Table for 4: Ada Lovelace"""
    wish = Wish(party_size=booking.party_size, kind=BookingKind(booking.kind), name=booking.resource.name)
    what = phrase(wish, [booking.resource])
    return f"{what[:1].upper()}{what[1:]}{f': {booking.name}' if booking.name else ''}"


def _description(booking: Booking, project: Project) -> str:
    lines = [
        ("About", booking.title),
        ("Where", booking.resource.name),
        ("Phone", booking.phone),
        ("E-mail", booking.email),
        ("Notes", booking.notes),
        ("Code", booking.code),
    ]
    told = [f"{name}: {text}" for name, text in lines if text]
    return "\n".join([*told, f"Booked with {project.name}. Change it there: what is changed here is not read back."])
