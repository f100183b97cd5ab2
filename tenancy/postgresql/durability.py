"""Commits that don't wait for the disk."""

from __future__ import annotations

from tenancy.postgresql.prepared import Prepared

_SOON = Prepared("select set_config('synchronous_commit', 'off', true)")


def commit_soon() -> None:
    """Let the running transaction commit before it is on the disk.

    A crash of PostgreSQL may lose it for a fraction of a second; one of our processes can't. It is only for records of
    what changed nothing, such as a look-up.
    """
    _SOON()
