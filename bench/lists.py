"""`python -m bench.lists [--messages 1000000]`: how long the pages with lists take in a tenant of that size.

Each page is asked for as a signed-in browser does, through all of Django, and read to its last byte.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from bench.lists_data import RARE, Samples, load
from config.runner.embedded import EmbeddedServices
from config.runner.postgres import DATABASE, Postgres

RUNS = 9
PASSWORD = "correct horse battery"  # noqa: S105 - of a throwaway server


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.lists", description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--data", type=Path, help="keep the servers' data here, and use it again")
    parser.add_argument("--out", type=Path, help="write the medians as JSON")
    options = parser.parse_args()
    with EmbeddedServices(options.data, durable=True) as services:
        _prepare_django(services)
        figures = {name: _median_ms(get) for name, get in _pages(_tenant(services, messages=options.messages))}
    print("\n".join(f"{name:<44}{ms:>8.0f} ms" for name, ms in figures.items()))
    if options.out:
        options.out.write_text(json.dumps({"messages": options.messages, "median_ms": figures}, indent=1) + "\n")
