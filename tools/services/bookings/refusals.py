"""Booking errors. Each message says what is possible instead."""

from __future__ import annotations

from projects.common.api_error import Conflict


class Unbookable(Conflict):
    """The booking can't be made."""

    code = "unbookable"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message, code=self.code, field=field)


class NothingToBook(Unbookable):
    """No resource matches the request."""

    code = "nothing_to_book"


class TooLarge(Unbookable):
    """No resource is large enough."""

    code = "too_large"


class Past(Unbookable):
    """The time is in the past."""

    code = "past"


class TooFar(Unbookable):
    """The day is beyond the booking horizon."""

    code = "too_far"


class Closed(Unbookable):
    """The business is closed at that time."""

    code = "closed"


class SlotTaken(Unbookable):
    """The time is taken."""

    code = "taken"


class BookingOver(Unbookable):
    """The booking is canceled or has begun."""

    code = "over"


class InvalidTime(ValueError):
    """The text is not a date or time; the message shows the expected format."""
