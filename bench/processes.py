"""CPU time and memory of process trees, from /proc."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
KILOBYTE = 1024


def cpu_seconds(pid: int, *, without: Collection[int] = ()) -> float:
    """User and system time of a process and its descendants, including ended children. `without` is as in `family`."""
    times = [int(field) for member in family(pid, without=without) for field in _stat(member)[11:15]]
    return sum(times) / TICKS_PER_SECOND


def backends_cpu_seconds(postmaster: int) -> float:
    """User and system time of the connections of our roles that are open."""
    times = [
        int(field)
        for member in family(postmaster)
        if _command(member).startswith(b"postgres: mg_")
        for field in _stat(member)[11:13]
    ]
    return sum(times) / TICKS_PER_SECOND


def memory_bytes(pid: int, *, without: Collection[int] = ()) -> int:
    """PSS of a process and its descendants: pages shared by several processes count once."""
    return sum(map(_pss, family(pid, without=without)))


def family(pid: int, *, without: Collection[int] = ()) -> list[int]:
    """A process and its living descendants, without those in `without` and their descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    members = [pid]
    for member in members:
        members += [child for child in children.get(member, []) if child not in without]
    return members


def _stat(pid: int) -> list[str]:
    """The fields of /proc/pid/stat after the name: state, parent, …; empty for a process that has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _pss(pid: int) -> int:
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    sizes = (row.split()[1] for row in rows if row.startswith("Pss:"))
    return sum(int(size) * KILOBYTE for size in sizes)
