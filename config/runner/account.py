"""The account that PostgreSQL runs as, because it refuses to run as root."""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.runner.errors import StartError

# Tried in this order. No account is ever created.
CANDIDATES = ("makegood", "postgres", "nobody")


@dataclass(frozen=True)
class Account:
    """An unprivileged account, used by root to run a server."""

    name: str
    uid: int
    gid: int

    def popen_options(self) -> dict[str, Any]:
        """Arguments for subprocess that run the child as this account, without supplementary groups."""
        return {"user": self.uid, "group": self.gid, "extra_groups": ()}

    def may_run(self, file: Path) -> bool:
        """True if the account can reach and execute `file`, or enter it if it is a directory."""
        test = subprocess.run(["test", "-x", str(file)], check=False, cwd="/", **self.popen_options())
        return test.returncode == 0

    def own(self, path: Path) -> None:
        """Change the owner of `path` to the account."""
        os.chown(path, self.uid, self.gid)


def server_account(cluster: Path) -> Account | None:
    """The account for PostgreSQL, or None for the current one. An existing cluster keeps its owner."""
    if os.geteuid() != 0:
        return None
    if cluster.exists() and (owner := cluster.stat().st_uid) != 0:
        return _account(pwd.getpwuid(owner))
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    for name in CANDIDATES:
        if name in known and known[name].pw_uid != 0:
            return _account(known[name])
    raise StartError("PostgreSQL refuses to run as root: start Makegood as another user, or add one named makegood.")


def _account(entry: pwd.struct_passwd) -> Account:
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
