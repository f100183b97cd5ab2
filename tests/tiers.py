"""The two tiers of the suite. `bin/test` alone leaves out what is `whole`; `bin/test --all`, a path and CI run that, too.

Whole is a test that starts processes of the product or a browser, each case but the first of a test with the database, and what
`tests/long.txt` lists: tests that take longer than others, of which each file keeps one. `tests.durations` writes that list.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

# Fixtures that start processes of the product, further servers, or a browser.
PROCESSES = frozenset({"_fork_server", "_network", "calls_provider", "playwright", "pooled", "services", "standby"})
DATABASE = "_schema"
LIST = Path(__file__).with_name("long.txt")
LONG = frozenset(LIST.read_text().split())


def name_of(nodeid: str) -> str:
    """The test without its case."""
    return nodeid.partition("[")[0]


def mark_whole(items: Iterable[pytest.Item]) -> None:
    begun: set[str] = set()
    for item in items:
        test, uses = name_of(item.nodeid), set(getattr(item, "fixturenames", ()))
        is_further_case = test in begun and DATABASE in uses
        if test in LONG or is_further_case or not PROCESSES.isdisjoint(uses):
            item.add_marker("whole")
        begun.add(test)
