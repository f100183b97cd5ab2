"""The signed link by which a customer comes to their booking without signing in."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac

from tools.models import Booking

SALT = "tools.book.links"
# Half of a SHA-256: as hard to guess as a random 128-bit number, and the link stays short enough for a text message.
SIGNATURE_BYTES = 16
TOKEN_LENGTH = 64


@dataclass(frozen=True)
class BookingPlace:
    """Where a booking lives: what a token says."""

    organization_id: UUID
    booking_id: UUID


def manage_url(booking: Booking) -> str:
    """The page where the customer sees, moves or cancels this booking; it stands until a day after the booking's end."""
    return f"{settings.BASE_URL}/b/{make_token(booking)}"


def make_token(booking: Booking) -> str:
    """64 characters that may stand in an address: the booking's place, and our signature."""
    place = cast(UUID, booking.organization_id).bytes + booking.pk.bytes
    return urlsafe_b64encode(place + _signature(place, settings.SECRET_KEY)).decode()


def read_token(token: str) -> BookingPlace | None:
    """The place that we signed, or None. No row is read for a token that isn't ours."""
    if len(token) != TOKEN_LENGTH or not token.isascii():
        return None
    try:
        raw = urlsafe_b64decode(token)
    except ValueError:
        return None
    place, signature = raw[:-SIGNATURE_BYTES], raw[-SIGNATURE_BYTES:]
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    if not any(hmac.compare_digest(signature, _signature(place, key)) for key in keys):
        return None
    return BookingPlace(organization_id=UUID(bytes=place[:16]), booking_id=UUID(bytes=place[16:]))


def _signature(place: bytes, key: str | bytes) -> bytes:
    return salted_hmac(SALT, place, secret=key, algorithm="sha256").digest()[:SIGNATURE_BYTES]
