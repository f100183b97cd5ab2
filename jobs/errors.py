"""Errors of jobs."""

from __future__ import annotations

from projects.common.api_error import Conflict


class GiveUp(RuntimeError):
    """The job fails at once with this reason, because a retry can't succeed."""


class WrongState(Conflict):
    """The state of the row doesn't allow this."""


class Skip(RuntimeError):
    """The job ends with this reason and without a result, because nothing is lost without one."""


class TryLater(RuntimeError):
    """The job is queued again with this reason and runs after `delay_seconds`. The attempt doesn't count."""

    def __init__(self, reason: str, *, delay_seconds: float) -> None:
        super().__init__(reason)
        self.delay_seconds = delay_seconds
