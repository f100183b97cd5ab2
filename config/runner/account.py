"""The account PostgreSQL runs as: PostgreSQL refuses to run as root."""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.runner.errors import StartError

# Tried in this order; nothing is ever added to the machine's accounts.
CANDIDATES = ("makegood", "postgres", "nobody")


@dataclass(frozen=True)
class Account:
    """An unprivileged account that root lends to a server."""

    name: str
    uid: int
    gid: int

    def popen_options(self) -> dict[str, Any]:
        """Keywords for subprocess that make the child run as this account and in no other group."""
        return {"user": self.uid, "group": self.gid, "extra_groups": ()}

    def may_run(self, file: Path) -> bool:
        """Whether the account can reach and execute `file` (for a directory: enter it)."""
        test = subprocess.run(["test", "-x", str(file)], check=False, cwd="/", **self.popen_options())
        return test.returncode == 0

    def own(self, path: Path) -> None:
        """Give `path` to the account."""
        os.chown(path, self.uid, self.gid)


def server_account(cluster: Path) -> Account | None:
    """Whom to run PostgreSQL as for the files in `cluster`; None: as ourselves. An existing cluster keeps its owner."""
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
