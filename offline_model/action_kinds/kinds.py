"""Action kinds of the built-in tools."""

from __future__ import annotations

from enum import StrEnum


class ActionKind(StrEnum):
    """A kind of action, as the built-in tools have them."""

    AVAILABILITY = "availability"
    BOOKING = "booking"
    SEARCH = "search"
    CANCEL = "cancel"
    SMS = "sms"
    EMAIL = "email"
    MANAGE_LINK = "manage_link"
    TRANSFER = "transfer"
    MEETING = "meeting"
    ZIP = "zip"
    PRODUCT = "product"
    GOODBYE = "goodbye"
