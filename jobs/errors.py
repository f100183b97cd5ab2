"""What can go wrong with a job."""

from __future__ import annotations

from projects.common.api_error import Conflict


class GiveUp(RuntimeError):
    """Trying again can't help: the job fails at once, with this reason."""


class WrongState(Conflict):
    """The row is not in a state that allows this."""
