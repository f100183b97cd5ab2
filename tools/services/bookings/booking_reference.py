"""Booking references: the details by which a customer identifies a booking."""

from __future__ import annotations

from pydantic import Field

from projects.models import Project
from tools.engine.execution.handler import ToolContext
from tools.engine.hooks import read_contact
from tools.services.bookings.clock import read_day
from tools.services.bookings.finding import BookingLookup
from tools.services.bookings.handler_adapter import Arguments
from tools.services.verification.services import verification_level

NOT_FOUND = (
    "No booking to come was found. A booking is found by its code, or by the phone number together with the name that it "
    "is under; ask for those."
)


class BookingReference(Arguments):
    """Details that the customer gives of the booking."""

    code: str | None = Field(None, description="The booking's code, six letters and digits; null when none was said.")
    phone: str | None = Field(
        None, description="The phone number that the booking was made with, as it was said; null when none was said."
    )
    name: str | None = Field(None, description="The name that the booking is under; null when none was said.")
    date: str | None = Field(
        None, description="The local day of the booking, as an ISO date like 2026-11-27; null when none was said."
    )


def build_lookup(reference: BookingReference, context: ToolContext, project: Project) -> BookingLookup:
    """Build the lookup from the customer's words, completed with what is known of them.

    If the project requires verification, the lookup is limited to the customer's own bookings, and the contact on file
    is read again in the tenant's transaction. Raises InvalidTime.
    """
    contact = context.contact
    is_sure = verification_level(project) != "none"
    on_file = read_contact(contact.persona_id) if contact and is_sure else None
    return BookingLookup(
        persona_id=contact.persona_id if contact else None,
        code=reference.code or "",
        phone=reference.phone or (contact.phone if contact else ""),
        name=reference.name or (contact.name if contact else ""),
        day=read_day(reference.date) if reference.date else None,
        own_phone=(on_file.phone_on_file if on_file else "") if is_sure else None,
    )
