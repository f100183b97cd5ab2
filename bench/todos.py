"""`python -m bench.todos [--todos 100000] [--starts 50]`: how soon an approved todo begins, and how long the board, the list and
one todo take in a tenant of that size.

Each page is asked for as a signed-in browser does, through all of Django, and read to its last byte.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from django.test import Client

from bench import starts
from bench.lists import prepare
from bench.lists_data import COPY, SAMPLE
from bench.product import running_product
from config.runner.embedded import EmbeddedServices
from config.runner.postgres import DATABASE, Postgres

RUNS = 15
LOST = 5
LIMIT_MS = 300
DAYS = 90
STATES = {
    "pending_review": 20,
    "approved": 2,
    "in_progress": 3,
    "needs_attention": 5,
    "failed": 5,
    "completed": 50,
    "rejected": 10,
    "expired": 3,
    "cancelled": 2,
}
MADE = (
    "create temp table made as select i, at, uuidv7(at - now()) as id, state from (select i, now() - make_interval("
    "secs => %(days)s * 86400 * (1 - i::float8 / %(todos)s)) as at, (%(states)s::text[])[1 + (i * 37) %% 100] as state"
    " from generate_series(1, %(todos)s) i) w order by i"
)
TODOS = COPY.format(
    table="todos_todo",
    changes="select jsonb_build_object('id', id, 'description', 'Send guest ' || i || ' what was promised', 'status', state,"
    " 'created_at', at, 'status_at', at + interval '9 minutes') changes from made",
)
EVENTS = COPY.format(
    table="todos_todoevent",
    changes="select jsonb_build_object('id', uuidv7(at - now()), 'todo_id', id, 'at', at) changes from made",
)


def main() -> None:
    options = _options()
    begun = _starts(options.starts) if options.starts else {}
    figures = _figures(options) if options.todos else {}
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if options.out:
        document = {"todos": options.todos, "starts_s": begun, "pages": figures}
        options.out.write_text(json.dumps(document, indent=1) + "\n")


def _starts(hinted: int) -> dict[str, list[float]]:
    """Seconds from each yes to its run, in a product of their own."""
    with running_product(ttft_ms=0) as product:
        begun = starts.measure(product, hinted=hinted, lost=LOST)
    for name, seconds in begun.items():
        late = "" if max(seconds) < starts.MOST_SECONDS[name] else "  over the limit"
        spread = f"{statistics.median(seconds):.3f} s median, {_p95(seconds):.3f} s p95, {max(seconds):.3f} s slowest"
        print(f"approved to started, {name}, {len(seconds)} todos: {spread}{late}", flush=True)
    return begun


def _p95(values: list[float]) -> float:
    return sorted(values)[max(0, math.ceil(0.95 * len(values)) - 1)]


def _figures(options: argparse.Namespace) -> dict[str, dict[str, float]]:
    with EmbeddedServices(options.data, durable=True) as services:
        prepare(services)
        tenant = _tenant(services, todos=options.todos)
        client = Client()
        client.force_login(tenant.owner)
        figures = {name: _times_ms(client, url) for name, url in _pages(tenant)}
    for name, times in figures.items():
        late = "" if times["median_ms"] < LIMIT_MS else "  over the limit"
        print(f"{name:<32}{times['median_ms']:>6.0f} ms median{times['slowest_ms']:>6.0f} ms slowest{late}")
    return figures


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.todos", description=__doc__)
    parser.add_argument(
        "--todos", type=int, default=100_000, help="in the tenant whose pages are asked for; 0: no pages"
    )
    parser.add_argument("--starts", type=int, default=50, help="todos that are approved with the hint; 0: none")
    parser.add_argument("--data", type=Path, help="keep the servers' data here, and use it again")
    parser.add_argument("--out", type=Path, help="write the times as JSON")
    return parser.parse_args()


def _tenant(services: EmbeddedServices, *, todos: int) -> Any:
    """The tenant with its todos; it is filled unless the data were kept."""
    # Models can be imported only now that the settings are there.
    samples = import_module("bench.todos_tenant")
    if standing := samples.find_tenant():
        return standing
    made = samples.make_tenant()
    _load(services, made, todos=todos)
    return made


def _load(services: EmbeddedServices, tenant: Any, *, todos: int) -> None:
    """Copies of the tenant's one todo. Asks for the server's own administrator, as `bench.lists` does."""
    service = services.postgres.service
    if not isinstance(service, Postgres):
        raise TypeError("The first of the services is PostgreSQL.")
    states = [state for state, share in STATES.items() for _ in range(share)]
    values = {"todos": todos, "days": DAYS, "states": states}
    began = time.perf_counter()
    with psycopg.connect(service.admin_url(database=DATABASE)) as connection:
        connection.execute("set session_replication_role = replica")
        connection.execute(MADE.encode(), values)
        for statement, sample in ((TODOS, tenant.todo), (EVENTS, tenant.event)):
            connection.execute((statement + SAMPLE).encode(), {**values, "sample": sample})
    with psycopg.connect(service.admin_url(database=DATABASE), autocommit=True) as connection:
        connection.execute("vacuum analyze")
    print(f"{todos:,} todos loaded in {time.perf_counter() - began:.0f} s", flush=True)


def _pages(tenant: Any) -> Iterator[tuple[str, str]]:
    """Each page by name, with its address."""
    base = f"/p/{tenant.slug}/todos"
    todo: UUID = tenant.todo
    yield "board", base
    yield "board beside one todo", f"{base}/{todo}"
    yield "whether anything changed", f"{base}/news?todo={todo}"
    yield "list", f"{base}?view=list"
    yield "list: to review, with boxes", f"{base}?view=list&state=pending_review"
    yield "list: a state that few are in", f"{base}?view=list&state=cancelled"
    yield "dashboard", f"/p/{tenant.slug}/"


def _times_ms(client: Client, url: str) -> dict[str, float]:
    """The median of several visits, and the slowest."""
    seconds = []
    for _ in range(RUNS):
        began = time.perf_counter()
        response = client.get(url)
        seconds.append(time.perf_counter() - began)
        if response.status_code != 200:
            raise RuntimeError(f"{url} answered {response.status_code}.")
    return {"median_ms": statistics.median(seconds) * 1000, "slowest_ms": max(seconds) * 1000}


if __name__ == "__main__":
    main()
