"""CPU time and memory of a process and its children, from /proc."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Usage:
    """CPU seconds (user and system, of ended children too) and resident bytes."""

    cpu_s: float
    rss_bytes: int

    def __sub__(self, earlier: Usage) -> Usage:
        return Usage(cpu_s=self.cpu_s - earlier.cpu_s, rss_bytes=self.rss_bytes)


def usage_of(pid: int) -> Usage:
    """A process with all its living descendants."""
    cpu_s, rss_bytes = 0.0, 0
    for member in _family(pid):
        fields = _stat(member)
        if fields:
            cpu_s += sum(int(fields[index]) for index in (11, 12, 13, 14)) / TICKS_PER_SECOND
            rss_bytes += int(fields[21]) * PAGE_BYTES
    return Usage(cpu_s=cpu_s, rss_bytes=rss_bytes)


def _family(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    members = [pid]
    for member in members:
        members += children.get(member, [])
    return members


def _stat(pid: int) -> list[str]:
    """The fields of /proc/pid/stat after the name: state, parent, …; nothing for a process that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
