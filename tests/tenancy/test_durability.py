"""Commits that don't wait for the disk."""

from __future__ import annotations

from tenancy.postgresql.durability import commit_soon
from tenancy.postgresql.prepared import Prepared
from tests.conftest import Tenant

SHOW = Prepared("select current_setting('synchronous_commit')")


def test_one_transaction_commits_soon(tenant: Tenant) -> None:
    """The next one waits again."""
    with tenant.tx():
        before = SHOW()
        commit_soon()
        assert SHOW() == [("off",)]
    with tenant.tx():
        assert SHOW() == before
