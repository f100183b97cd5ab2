"""What can go wrong on the way out, told apart by the one question that matters afterwards: was anything sent?"""

from __future__ import annotations

import inspect
from enum import StrEnum
from typing import ClassVar


class Outcome(StrEnum):
    """What a caller may conclude about the request's effect at the target."""

    NOT_SENT = "not_sent"  # the target did nothing: trying again is safe
    UNKNOWN = "unknown"  # a part of the request left: it may have been carried out
    DONE = "done"  # the target answered with a status


class OutboundError(Exception):
    """The request failed. `reason` is a short code; the text names the host, never the path, a header or the body."""

    outcome: ClassVar[Outcome]

    def __init__(self, message: str = "", *, reason: str) -> None:
        super().__init__(message or inspect.cleandoc(self.__doc__ or "").partition("\n")[0])
        self.reason = reason


class NotSent(OutboundError):
    """Nothing was sent.

    Reasons: `dns`, `connect`, `deadline`, and those of the subclasses. A failed TLS handshake is `connect`.
    """

    outcome = Outcome.NOT_SENT


class BlockedAddress(NotSent):
    """This address may not be called.

    Reasons: `private_address`, `bad_port`, `bad_scheme`, `userinfo`, `bad_host`, `bad_url`.
    """


class InvalidRequest(NotSent):
    """The request can't be sent as it is. Reasons: `bad_header`, `bad_method`."""


class Unknown(OutboundError):
    """The request left, and no whole answer came back. Reasons: `deadline`, `connection`."""

    outcome = Outcome.UNKNOWN


class Unreadable(OutboundError):
    """The target answered with `status`, but the body can't be read. Reasons: `content_encoding`, `too_long`."""

    outcome = Outcome.DONE

    def __init__(self, message: str = "", *, reason: str, status: int) -> None:
        super().__init__(message, reason=reason)
        self.status = status
