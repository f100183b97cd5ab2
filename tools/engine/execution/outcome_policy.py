"""The outcome policy: the state of an effect after an attempt."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from enum import StrEnum

from tools.engine.definition import RetryPolicy
from tools.engine.execution.outcome import Ending, Outcome
from tools.models import Effect

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
