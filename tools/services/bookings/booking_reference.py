"""Booking references: the details by which a customer identifies a booking, and the search by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from projects.common.phones import InvalidPhone, normalize_phone, read_phone
from projects.models import Project
from tools.engine.execution.handler import ToolContext
from tools.engine.hooks import read_contact
from tools.models import Booking
from tools.services.bookings.clock import read_day
from tools.services.bookings.finding import BookingLookup, find_upcoming_bookings, is_proven
from tools.services.bookings.handler_adapter import Arguments
from tools.services.bookings.misses import TOO_OFTEN, has_missed_too_often
from tools.services.bookings.search import config_of
from tools.services.verification.services import verification_level

NOT_FOUND = (
    "No booking to come was found. A booking is found by its code, or by the phone number together with the surname that "
    "it is under; ask for those."
)
NEEDS_PROOF = (
    "A booking is changed only with its code, by the link that was sent with it, or from the number that it was made with. "
    "Ask for the code."
)
# Channels on which the network reports the customer's number, which is then the one on file.
NUMBERED_CHANNELS = frozenset({"sms", "whatsapp"})


class BookingReference(Arguments):
    """Details that the customer gives of the booking."""

    code: str | None = Field(None, description="The booking's code, six letters and digits; null when none was said.")
    phone: str | None = Field(
        None, description="The phone number that the booking was made with, as it was said; null when none was said."
    )
    name: str | None = Field(None, description="The full name that the booking is under; null when none was said.")
    date: str | None = Field(
        None, description="The local day of the booking, as an ISO date like 2026-11-27; null when none was said."
    )


@dataclass(frozen=True)
class BookingSearch:
    """The bookings found by a customer's details. `told` is set if nothing was found, and `missed` for a wrong guess.

    `missed` is the phone number that was named, "" for none.
    """

    clue: BookingLookup
    found: Sequence[Booking] = ()
    told: str = ""
    missed: str | None = None

    @property
    def proven(self) -> list[Booking]:
        """The bookings that the customer has proved to be theirs."""
        return [booking for booking in self.found if is_proven(booking, self.clue)]

    @property
    def result(self) -> dict[str, str]:
        """The effect's record of a miss, by which later searches are limited."""
        return {} if self.missed is None else {"missed": self.missed}


def search_bookings(reference: BookingReference, context: ToolContext, project: Project) -> BookingSearch:
    """Search by the customer's words. Wrong details are counted, and after too many nothing is searched.

    Raises InvalidTime.
    """
    clue = build_lookup(reference, context, project)
    guess = _guess(reference, project)
    if guess is not None and has_missed_too_often(project, context, phone=guess):
        # Counted in the conversation only, so that of many concurrent guesses none is compared.
        return BookingSearch(clue, told=TOO_OFTEN, missed="")
    found = find_upcoming_bookings(project, clue, now=context.at)
    return BookingSearch(clue, found) if found else BookingSearch(clue, told=NOT_FOUND, missed=guess)


def build_lookup(reference: BookingReference, context: ToolContext, project: Project) -> BookingLookup:
    """Build the lookup from the customer's words, completed with what is known of them.

    If the project requires verification, the lookup is limited to the customer's own bookings, and the contact on file
    is read again in the tenant's transaction. Raises InvalidTime.
    """
    contact = context.contact
    is_verified = verification_level(project) != "none"
    return BookingLookup(
        persona_id=contact.persona_id if contact else None,
        code=reference.code or "",
        phone=reference.phone or (contact.phone if contact else ""),
        name=reference.name or (contact.name if contact else ""),
        day=read_day(reference.date) if reference.date else None,
        proven_phone=_proven_phone(context, project, is_verified=is_verified),
        is_own_only=is_verified,
    )


def _proven_phone(context: ToolContext, project: Project, *, is_verified: bool) -> str:
    """The number that is certainly the customer's, in E.164, or "".

    A call's network reports it. On other channels it is the number on file, which staff or the API entered, if the
    channel is tied to it or the customer was verified. A number that the customer only said proves nothing.
    """
    if not is_verified and context.channel == "phone":
        return _number(str(context.call.get("caller_phone") or ""), project)
    if context.contact is None or not (is_verified or context.channel in NUMBERED_CHANNELS):
        return ""
    on_file = read_contact(context.contact.persona_id)
    return _number(on_file.phone_on_file if on_file else "", project)


def _number(text: str, project: Project) -> str:
    try:
        return read_phone(text, region=config_of(project).region) if text else ""
    except InvalidPhone:
        return ""


def _guess(reference: BookingReference, project: Project) -> str | None:
    """The phone number of a search by details that may belong to somebody else, "" for a code; None without such."""
    if reference.code:
        return ""
    if reference.phone or reference.name:
        return normalize_phone(reference.phone, region=config_of(project).region) if reference.phone else ""
    return None
