"""What an attempt's outcome means for an effect: the table of reliability 2.2, in one place (E2-E4)."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from enum import StrEnum

from tools.engine.definition import RetryPolicy
from tools.engine.execution.outcome import Ending, Outcome
from tools.models import Effect

# After the first, second, … attempt.
PAUSES = (
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
)
MOST_ATTEMPTS = len(PAUSES) + 1
LONGEST_PAUSE = timedelta(minutes=10)
JITTER = 0.1
DIED = "The worker that was at it died; whether it was done isn't known."


class Course(StrEnum):
    """What becomes of an effect after an attempt."""

    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    AGAIN = "again"
    LATER = "later"


def course_of(effect: Effect, outcome: Outcome, *, now: datetime) -> Course:
    """The course after an attempt.

    Neither `done` nor `failed` is ever guessed: once an attempt's outcome is unknown, only a success or a person ends it.
    """
    if outcome.ending is Ending.LATER:
        return Course.LATER
    if outcome.ending is Ending.DONE:
        return Course.DONE
    is_retried = outcome.ending is Ending.NOT_SENT or (
        outcome.ending is Ending.UNKNOWN and effect.delivery == RetryPolicy.IDEMPOTENT
    )
    if is_retried and next_attempt_at(effect, outcome, now=now) is not None:
        return Course.AGAIN
    return Course.UNKNOWN if may_have_happened(effect, outcome) else Course.FAILED


def may_have_happened(effect: Effect, outcome: Outcome) -> bool:
    """Whether this attempt or an earlier one left its outcome open."""
    return effect.is_uncertain or outcome.ending is Ending.UNKNOWN


def next_attempt_at(effect: Effect, outcome: Outcome, *, now: datetime) -> datetime | None:
    """When it is tried again: 5 s, 30 s, 2 min, 10 min, or as it was told; None when that would be after its deadline."""
    if not 0 < effect.attempts <= len(PAUSES):
        return None
    pause = PAUSES[effect.attempts - 1]
    if outcome.retry_after_seconds is not None:
        pause = min(timedelta(seconds=max(0.0, outcome.retry_after_seconds)), LONGEST_PAUSE)
    due_at = now + pause * (1 + random.uniform(0, JITTER))  # noqa: S311 - jitter, not a secret
    return due_at if effect.deadline_at is None or due_at <= effect.deadline_at else None
