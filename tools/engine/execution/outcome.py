"""The outcome of one attempt at an effect."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from tools.engine.definition import RetryPolicy
from tools.models import Effect


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
class Outcome:
    """The outcome of one attempt.

    `result` is data for people and the API; `told` is the sentence for the agent, empty if there is nothing to say.
    `block` is what the widget shows in place of text, by its `type`. `request` is what was sent, redacted; `excerpt` is
    the response, cut to 8 kB. `adapter` names the implementation that executed it.
    """

    ending: Ending
    result: Mapping[str, Any] = field(default_factory=dict)
    told: str = ""
    error: str = ""
    request: Mapping[str, Any] | None = None
    excerpt: str = ""
    http_status: int | None = None
    adapter: str = ""
    retry_after_seconds: float | None = None
    signal: Signal | None = None
    block: Mapping[str, Any] | None = None

    def retold(self, told: str) -> Outcome:
        """The same outcome with another sentence for the agent, if it succeeded."""
        return replace(self, told=told) if self.ending is Ending.DONE else self

    @classmethod
    def done(cls, told: str, **details: Any) -> Outcome:
        return cls(Ending.DONE, told=told, **details)

    @classmethod
    def failed(cls, error: str, **details: Any) -> Outcome:
        """It certainly did not happen; `error` is a one-sentence reason."""
        return cls(Ending.FAILED, error=error, **details)

    @classmethod
    def not_sent(cls, error: str, **details: Any) -> Outcome:
        """Nothing was sent, or the other side refused for now: it may be retried."""
        return cls(Ending.NOT_SENT, error=error, **details)

    @classmethod
    def unknown(cls, error: str, **details: Any) -> Outcome:
        """It may have happened."""
        return cls(Ending.UNKNOWN, error=error, **details)


# After the first, second, … attempt.
RETRY_DELAYS = (
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
)
MAX_ATTEMPTS = len(RETRY_DELAYS) + 1
MAX_RETRY_DELAY = timedelta(minutes=10)
JITTER = 0.1
WORKER_DIED = "The worker that was at it died; whether it was done isn't known."


class NextStep(StrEnum):
    """The next step of an effect after an attempt."""

    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    AGAIN = "again"
    LATER = "later"


def next_step(effect: Effect, outcome: Outcome, *, now: datetime) -> NextStep:
    """The next step after an attempt.

    `done` and `failed` are never guessed: once an attempt's outcome is unknown, only a success or a person ends the
    effect.
    """
    if outcome.ending is Ending.LATER:
        return NextStep.LATER
    if outcome.ending is Ending.DONE:
        return NextStep.DONE
    is_retried = outcome.ending is Ending.NOT_SENT or (
        outcome.ending is Ending.UNKNOWN and effect.delivery == RetryPolicy.IDEMPOTENT
    )
    if is_retried and next_attempt_at(effect, outcome, now=now) is not None:
        return NextStep.AGAIN
    return NextStep.UNKNOWN if may_have_happened(effect, outcome) else NextStep.FAILED


def may_have_happened(effect: Effect, outcome: Outcome) -> bool:
    """True if the outcome of this or an earlier attempt is unknown."""
    return effect.is_uncertain or outcome.ending is Ending.UNKNOWN


def next_attempt_at(effect: Effect, outcome: Outcome, *, now: datetime) -> datetime | None:
    """The time of the next attempt: after 5 s, 30 s, 2 min, 10 min, or the Retry-After; None after the deadline."""
    if not 0 < effect.attempts <= len(RETRY_DELAYS):
        return None
    pause = RETRY_DELAYS[effect.attempts - 1]
    if outcome.retry_after_seconds is not None:
        pause = min(timedelta(seconds=max(0.0, outcome.retry_after_seconds)), MAX_RETRY_DELAY)
    due_at = now + pause * (1 + random.uniform(0, JITTER))  # noqa: S311 - jitter, not a secret
    return due_at if effect.deadline_at is None or due_at <= effect.deadline_at else None
