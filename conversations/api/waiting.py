"""Ways a client follows its request: waiting for a reply, or opening a stream."""

from __future__ import annotations

import math
from dataclasses import dataclass
from uuid import UUID

from conversations.common.payloads import MessagePayload
from conversations.live.stream import StreamCursor
from projects.api.authentication import Caller
from projects.common.api_error import ApiError

MAX_SECONDS = 60.0


@dataclass(frozen=True)
class ReplyWait:
    """A client waiting for the reply to its message."""

    organization_id: UUID
    conversation_id: UUID
    turn_id: UUID
    message: MessagePayload
    seconds: float


@dataclass(frozen=True)
class OpenStream:
    """A client admitted to a conversation's stream, which starts at `cursor`."""

    caller: Caller
    cursor: StreamCursor


@dataclass(frozen=True)
class TurnStream(OpenStream):
    """A stream that ends with one turn's reply."""

    turn_id: UUID


def wait_seconds(text: str) -> float:
    """The `wait` parameter in seconds, capped at 60; 0 if missing. Raises ApiError."""
    try:
        seconds = float(text or "0")
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise ApiError("invalid_wait", "wait must be a number of seconds from 0 to 60.", field="wait")
    return min(seconds, MAX_SECONDS)
