"""Errors of jobs."""

from __future__ import annotations

from projects.common.api_error import Conflict


class GiveUp(RuntimeError):
    """The job fails at once with this reason, because a retry can't succeed."""


class WrongState(Conflict):
    """The state of the row doesn't allow this."""
