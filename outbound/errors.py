"""Errors of outbound requests. `outcome` tells whether the request may have had an effect."""

from __future__ import annotations

import inspect
import socket
from enum import StrEnum
from typing import ClassVar

# Answers of a resolver that another try would repeat. Without an answer, it is EAI_AGAIN.
NO_ADDRESS = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


class Outcome(StrEnum):
    """The effect that a request may have had at the target."""

    NOT_SENT = "not_sent"  # nothing left; a retry is safe
    UNKNOWN = "unknown"  # some of the request left; the target may have acted on it
    DONE = "done"  # the target answered with a status


class OutboundError(Exception):
    """The request failed.

    `reason` is a short code. The message names the host, never the path, a header or the body.
    """

    outcome: ClassVar[Outcome]

    def __init__(self, message: str = "", *, reason: str) -> None:
        super().__init__(message or inspect.cleandoc(self.__doc__ or "").partition("\n")[0])
        self.reason = reason


class NotSent(OutboundError):
    """Nothing was sent.

    Reasons: `dns`, `connect`, `deadline`, and those of the subclasses. A failed TLS handshake is `connect`.
    """

    outcome = Outcome.NOT_SENT


class NoSuchHost(NotSent):
    """No address exists for the host name (`dns`). Another try gets the same answer."""


class BlockedAddress(NotSent):
    """This address may not be called.

    Reasons: `private_address`, `bad_port`, `bad_scheme`, `userinfo`, `bad_host`, `bad_url`.
    """


class InvalidRequest(NotSent):
    """The request is not valid.

    Reasons: `bad_header`, `bad_method`.
    """


class Unknown(OutboundError):
    """The request was sent, but no complete response came back.

    Reasons: `deadline`, `connection`.
    """

    outcome = Outcome.UNKNOWN


class Unreadable(OutboundError):
    """The target responded with `status`, but the body can't be read.

    Reasons: `content_encoding`, `too_long`.
    """

    outcome = Outcome.DONE

    def __init__(self, message: str = "", *, reason: str, status: int) -> None:
        super().__init__(message, reason=reason)
        self.status = status


def is_no_such_host(error: BaseException) -> bool:
    """True if a name was looked up and has no address. False if no server answered, so that a later try may succeed."""
    return isinstance(error, UnicodeError) or (isinstance(error, socket.gaierror) and error.errno in NO_ADDRESS)
