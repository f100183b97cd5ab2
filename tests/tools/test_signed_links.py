"""Signed links: issued tokens stay valid, and a token opens only its own kind of page."""

from __future__ import annotations

from uuid import UUID

import pytest

from tools.models import Booking
from tools.services.signed_links import (
    BookingTarget,
    PortalTarget,
    booking_token,
    portal_token,
    read_booking_token,
    read_portal_token,
)

ORGANIZATION, SUBJECT = UUID(int=1), UUID(int=2)
UNTIL = 30_000
BOOKING_TOKEN = "AAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAJu3mcU7AaNjlzUXw_8duRt"
PORTAL_TOKEN = "AAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAJ1MBOKUMnCKA_NVLzkNbAYdO8="


@pytest.fixture(autouse=True)
def _key(settings) -> None:
    settings.SECRET_KEY = "k" * 50


def test_an_issued_booking_link_stays_valid() -> None:
    assert booking_token(Booking(pk=SUBJECT, organization_id=ORGANIZATION)) == BOOKING_TOKEN
    assert read_booking_token(BOOKING_TOKEN) == BookingTarget(ORGANIZATION, SUBJECT)


def test_an_issued_portal_link_stays_valid() -> None:
    place = PortalTarget(ORGANIZATION, SUBJECT)
    assert portal_token(place, until=UNTIL) == PORTAL_TOKEN
    assert read_portal_token(PORTAL_TOKEN) == place


@pytest.mark.parametrize("token", [BOOKING_TOKEN, "!" + PORTAL_TOKEN, PORTAL_TOKEN[:-1], PORTAL_TOKEN[:-1] + "A", ""])
def test_a_modified_portal_token_is_refused(token: str) -> None:
    assert read_portal_token(token) is None


def test_a_portal_token_opens_no_booking() -> None:
    assert [read_booking_token(token) for token in (PORTAL_TOKEN, PORTAL_TOKEN[:64])] == [None, None]
