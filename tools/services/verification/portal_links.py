"""The signed link by which a customer comes to their own page without signing in (F11, D25)."""

from __future__ import annotations

import hmac
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac

SALT = "tools.portal_links"
DAYS = 14
SECONDS_A_DAY = 86_400
# As the booking's link has it: as hard to guess as a random 128-bit number, and short enough for a text message.
SIGNATURE_BYTES = 16
PLACE_BYTES = 34
TOKEN_LENGTH = 68


@dataclass(frozen=True)
class PortalPlace:
    """Whose page it is: what a token says."""

    organization_id: UUID
    persona_id: UUID


def portal_url(place: PortalPlace) -> str:
    """The customer's page; the link opens it for fourteen days."""
    return f"{settings.BASE_URL}/c/{make_token(place, until=_today() + DAYS)}"


def token_in(link: str) -> str:
    """The part of a page's address that opens it."""
    return link.rpartition("/")[2]


def make_token(place: PortalPlace, *, until: int) -> str:
    """68 characters that may stand in an address: whose page, the last day since 1970, and our signature."""
    said = place.organization_id.bytes + place.persona_id.bytes + until.to_bytes(2, "big")
    return urlsafe_b64encode(said + _signature(said, settings.SECRET_KEY)).decode()


def read_token(token: str) -> PortalPlace | None:
    """The place that we signed, while the link stands; else None. No row is read for a token that isn't ours."""
    if len(token) != TOKEN_LENGTH or not token.isascii():
        return None
    try:
        raw = urlsafe_b64decode(token)
    except ValueError:
        return None
    said, signature = raw[:PLACE_BYTES], raw[PLACE_BYTES:]
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    if not any(hmac.compare_digest(signature, _signature(said, key)) for key in keys):
        return None
    if int.from_bytes(said[32:], "big") < _today():
        return None
    return PortalPlace(organization_id=UUID(bytes=said[:16]), persona_id=UUID(bytes=said[16:32]))


def _today() -> int:
    """Days since 1970."""
    return int(time.time()) // SECONDS_A_DAY


def _signature(said: bytes, key: str | bytes) -> bytes:
    return salted_hmac(SALT, said, secret=key, algorithm="sha256").digest()[:SIGNATURE_BYTES]
