"""The outcome of one attempt at an effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any

# Statuses after which the request may have been executed anyway, besides those of a broken server.
UNCERTAIN_STATUSES = frozenset({408, 409, 425})


def is_uncertain(status: int) -> bool:
    """True if this HTTP status leaves open whether the request was executed, so that it must not be sent again."""
    return status >= 500 or status in UNCERTAIN_STATUSES


class Ending(StrEnum):
    """The end of an attempt.

    `NOT_SENT` had no effect and may be retried; `LATER` was accepted and will be answered by callback.
    """

    DONE = "done"
    FAILED = "failed"
    NOT_SENT = "not_sent"
    UNKNOWN = "unknown"
    LATER = "later"


class Signal(StrEnum):
    """An instruction to the channel."""

    END = "end"
    TRANSFER = "transfer"


@dataclass(frozen=True)
class ExpectedReceipt:
    """The receipts that a provider will send for a message. `ref` is its id of the message.

    One that hasn't come `within` a time is unknown. None: the message counts as done without one.
    """

    ref: str
    within: timedelta | None


@dataclass(frozen=True)
class Outcome:
    """The outcome of one attempt.

    `result` is data for people and the API; `told` is the sentence for the agent, empty if there is nothing to say. `told`
    may instruct the agent, or hold a stranger's words, and never reaches a customer by itself: `said` is what a customer
    may read if no model words the result. `block` is what the widget shows in place of text, by its `type`. `request` is
    what was sent, redacted; `excerpt` is the response, cut to 8 kB. `adapter` names the implementation that executed it.
    `receipt` is set if the provider reports how far the message comes.
    """

    ending: Ending
    result: Mapping[str, Any] = field(default_factory=dict)
    told: str = ""
    said: str = ""
    error: str = ""
    request: Mapping[str, Any] | None = None
    excerpt: str = ""
    http_status: int | None = None
    adapter: str = ""
    retry_after_seconds: float | None = None
    signal: Signal | None = None
    block: Mapping[str, Any] | None = None
    receipt: ExpectedReceipt | None = None

    def retold(self, told: str) -> Outcome:
        """The same outcome with another sentence for the agent, if it succeeded."""
        return replace(self, told=told) if self.ending is Ending.DONE else self

    @classmethod
    def done(cls, told: str, **details: Any) -> Outcome:
        """The outcome of an effect that happened."""
        return cls(Ending.DONE, told=told, **details)

    @classmethod
    def failed(cls, error: str, **details: Any) -> Outcome:
        """The outcome of one that certainly did not happen; `error` is a one-sentence reason."""
        return cls(Ending.FAILED, error=error, **details)

    @classmethod
    def not_sent(cls, error: str, **details: Any) -> Outcome:
        """The outcome of one that may be retried: nothing was sent, or the other side refused it for now."""
        return cls(Ending.NOT_SENT, error=error, **details)

    @classmethod
    def unknown(cls, error: str, **details: Any) -> Outcome:
        """The outcome of one that may have happened."""
        return cls(Ending.UNKNOWN, error=error, **details)
