"""Writes `tests/long.txt` anew, by the times of this run. Tests that weren't run stay as they are, unless they are gone.

On a machine that does nothing else: `PYTEST_ADDOPTS='-p tests.durations' bin/test --all`
"""

from __future__ import annotations

import os
from collections import defaultdict

import pytest

from tests.tiers import LIST, LONG, name_of

MOST_SECONDS = 0.3

_seconds: dict[str, float] = defaultdict(float)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Not of what is whole for another reason."""
    if "whole" not in report.keywords or name_of(report.nodeid) in LONG:
        _seconds[report.nodeid] += report.duration


def pytest_sessionfinish() -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        LIST.write_text("".join(f"{name}\n" for name in sorted(filter(is_there, long_tests(_seconds, LONG)))))


def is_there(name: str) -> bool:
    """True if the test's file still has a function of its name."""
    file, _, test = name.partition("::")
    path = LIST.parent.parent / file
    return path.is_file() and f"def {test.rpartition('::')[2]}(" in path.read_text()


def long_tests(seconds: dict[str, float], before: frozenset[str]) -> set[str]:
    """The tests with a case that takes longer, and those of before that weren't run. Of each file, the shortest stays out."""
    longest: dict[str, float] = defaultdict(float)
    for nodeid, taken in seconds.items():
        longest[name_of(nodeid)] = max(longest[name_of(nodeid)], taken)
    files: dict[str, list[str]] = defaultdict(list)
    for name in sorted(longest, key=longest.__getitem__):
        files[name.partition("::")[0]].append(name)
    run = {name for names in files.values() for name in names[1:] if longest[name] > MOST_SECONDS}
    return run | (before - longest.keys())
