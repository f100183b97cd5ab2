"""`python -m bench.knowledge [--articles 10000]`: how long a question takes in a knowledge base of that size.

Each question is asked as a tool asks it: one transaction of the tenant, through row-level security, to the last row.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

from bench.lists import prepare
from config.runner.embedded import EmbeddedServices

RUNS = 15
LIMIT_MS = 50


def main() -> None:
    options = _options()
    with EmbeddedServices(options.data, durable=True) as services:
        prepare(services)
        # Models can be imported only now that the settings are there.
        tenant = import_module("bench.knowledge_tenant")
        project = tenant.filled_project(articles=options.articles)
        tenant.vacuum()
        figures = {name: _times_ms(partial(tenant.ask, project, text)) for name, text in tenant.QUESTIONS.items()}
    for name, (median, slowest, found) in figures.items():
        late = "" if median < LIMIT_MS else "  over the limit"
        print(f"{name:<44}{median:>6.1f} ms median{slowest:>7.1f} ms slowest{found:>4} found{late}")
    print(f"{options.articles:,} articles, load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _times_ms(ask: Callable[[], int]) -> tuple[float, float, int]:
    """The median of several askings, the slowest, and how many articles were found."""
    seconds, found = [], 0
    for _ in range(RUNS):
        began = time.perf_counter()
        found = ask()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds) * 1000, max(seconds) * 1000, found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.knowledge", description=__doc__)
    parser.add_argument("--articles", type=int, default=10_000)
    parser.add_argument("--data", type=Path, help="keep the servers' data here, and use it again")
    return parser.parse_args()


if __name__ == "__main__":
    main()
