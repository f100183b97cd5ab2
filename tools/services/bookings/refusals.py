"""What the book refuses, each in a sentence that says what is possible instead."""

from __future__ import annotations

from projects.common.api_error import Conflict


class Unbookable(Conflict):
    """This can't be booked."""

    code = "unbookable"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message, code=self.code, field=field)


class NothingToBook(Unbookable):
    """The book has no table, room or person for this."""

    code = "nothing_to_book"


class TooLarge(Unbookable):
    """No table, room or person takes so many people."""

    code = "too_large"


class Past(Unbookable):
    """The time has passed."""

    code = "past"


class TooFar(Unbookable):
    """The day is further ahead than bookings are taken."""

    code = "too_far"


class Closed(Unbookable):
    """The business is closed then."""

    code = "closed"


class SlotTaken(Unbookable):
    """It is taken by then."""

    code = "taken"


class BookingOver(Unbookable):
    """The booking is cancelled, or has begun."""

    code = "over"


class NoTime(ValueError):
    """The words are no date or time; the message is a sentence that says what would be one."""
