"""Signed links that open a page without signing in: a booking's page, and the customer portal.

A token is a fixed-size payload and our signature, short enough for a text message. An invalid token causes no query.
Keys in SECRET_KEY_FALLBACKS still verify the tokens that they signed.
"""

from __future__ import annotations

import hmac
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac

from tools.models import Booking

# Half of a SHA-256 digest, as hard to guess as a random 128-bit number.
SIGNATURE_BYTES = 16
PORTAL_DAYS = 14
SECONDS_A_DAY = 86_400


@dataclass(frozen=True)
class Signer:
    """Signs payloads of one size for one purpose. Issued links depend on the salt."""

    salt: str
    size: int

    @property
    def length(self) -> int:
        """Length of a token: four characters for every three bytes or part of them."""
        return 4 * -(-(self.size + SIGNATURE_BYTES) // 3)

    def sign(self, payload: bytes) -> str:
        """Return a URL-safe token."""
        return urlsafe_b64encode(payload + self._signature(payload, settings.SECRET_KEY)).decode()

    def read(self, token: str) -> bytes | None:
        """Return the payload, or None if we did not sign it."""
        if len(token) != self.length or not token.isascii():
            return None
        try:
            raw = urlsafe_b64decode(token)
        except ValueError:
            return None
        payload, signature = raw[: self.size], raw[self.size :]
        keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
        if any(hmac.compare_digest(signature, self._signature(payload, key)) for key in keys):
            return payload
        return None

    def _signature(self, payload: bytes, key: str | bytes) -> bytes:
        return salted_hmac(self.salt, payload, secret=key, algorithm="sha256").digest()[:SIGNATURE_BYTES]


BOOKING_SIGNER = Signer("tools.book.links", size=32)
PORTAL_SIGNER = Signer("tools.portal_links", size=34)


@dataclass(frozen=True)
class BookingTarget:
    """The booking that a token opens."""

    organization_id: UUID
    booking_id: UUID


@dataclass(frozen=True)
class PortalTarget:
    """The customer whose portal a token opens."""

    organization_id: UUID
    persona_id: UUID


def manage_url(booking: Booking) -> str:
    """Return the page where the customer views, moves or cancels the booking. The link works until a day after the
    booking ends.
    """
    return f"{settings.BASE_URL}/b/{booking_token(booking)}"


def booking_token(booking: Booking) -> str:
    """Return 64 characters: the organization and the booking, signed."""
    return BOOKING_SIGNER.sign(cast(UUID, booking.organization_id).bytes + booking.pk.bytes)


def read_booking_token(token: str) -> BookingTarget | None:
    """Return what the token opens, or None if we did not sign it."""
    payload = BOOKING_SIGNER.read(token)
    if payload is None:
        return None
    return BookingTarget(organization_id=UUID(bytes=payload[:16]), booking_id=UUID(bytes=payload[16:]))


def portal_url(place: PortalTarget) -> str:
    """Return the URL of the customer's portal, valid for fourteen days."""
    return f"{settings.BASE_URL}/c/{portal_token(place, until=_today() + PORTAL_DAYS)}"


def portal_token(place: PortalTarget, *, until: int) -> str:
    """Return 68 characters: the organization, the persona and the link's last day since 1970, signed."""
    return PORTAL_SIGNER.sign(place.organization_id.bytes + place.persona_id.bytes + until.to_bytes(2, "big"))


def read_portal_token(token: str) -> PortalTarget | None:
    """Return what the token opens, or None if we did not sign it or it has expired."""
    payload = PORTAL_SIGNER.read(token)
    if payload is None or int.from_bytes(payload[32:], "big") < _today():
        return None
    return PortalTarget(organization_id=UUID(bytes=payload[:16]), persona_id=UUID(bytes=payload[16:32]))


def token_in(link: str) -> str:
    """Return the token of a link."""
    return link.rpartition("/")[2]


def _today() -> int:
    """Days since 1970."""
    return int(time.time()) // SECONDS_A_DAY
