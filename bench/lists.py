"""`python -m bench.lists [--messages 1000000]`: how long the pages with lists take in a tenant of that size.

Each page is asked for as a signed-in browser does, through all of Django, and read to its last byte.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import statistics
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import django
from django.core.management import call_command
from django.test import Client

from bench.lists_data import RARE, load
from config.runner.embedded import EmbeddedServices
from config.runner.postgres import DATABASE, Postgres

RUNS = 9
LIMIT_MS = 200
# No page, and no goal: it is counted beside the page.
COUNTED = "dashboard: until its figures are there"
NEXT = re.compile(r'href="([^"]+)" (?:rel="next"|data-further)')
NARROWED = {
    "one channel": "channel=phone",
    "a channel that nobody uses": "channel=telegram",
    "open ones": "status=open",
    "open ones on one channel": "status=open&channel=sms",
    "flagged": "flagged=1",
}
SEARCHES = {
    "search: a name": "Giulia Ferri",
    "search: a last name": "Marchetti12",
    "search: the end of a phone number": "347 0004217",
    "search: an e-mail address": "guest4217@",
    "search: a word that many say": "terrace",
    "search: three words": "small dog window",
    "search: a word that few say": RARE,
    "search: a word that nobody says": "zeppelin",
}


def main() -> None:
    options = _options()
    with EmbeddedServices(options.data, durable=True) as services:
        prepare(services)
        slug, client = _tenant(services, messages=options.messages)
        figures = _first_visits(client, slug)
        figures |= {name: _times_ms(client, url, slug=slug) for name, url in _pages(client, slug)}
    for name, times in figures.items():
        late = "" if times["median_ms"] < LIMIT_MS or name == COUNTED else "  over the limit"
        print(f"{name:<40}{times['median_ms']:>6.0f} ms median{times['slowest_ms']:>6.0f} ms slowest{late}")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if options.out:
        options.out.write_text(json.dumps({"messages": options.messages, "pages": figures}, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.lists", description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--data", type=Path, help="keep the servers' data here, and use it again")
    parser.add_argument("--out", type=Path, help="write the times as JSON")
    return parser.parse_args()


def prepare(services: EmbeddedServices) -> None:
    """Django on these servers, with the tables made."""
    os.environ.update(services.env)
    os.environ.update(DJANGO_SETTINGS_MODULE="config.settings", MAKEGOOD_OFFLINE="1")
    django.setup()
    call_command("migrate", verbosity=0)


def _tenant(services: EmbeddedServices, *, messages: int) -> tuple[str, Client]:
    """The project's address and its owner's browser; the tenant is filled unless the data were kept."""
    # Models can be imported only now that the settings are there.
    samples = import_module("bench.lists_tenant")
    owner, slug = samples.find_tenant() or _fill(services, samples.make_tenant(), messages=messages)
    client = Client()
    client.force_login(owner)
    return slug, client


def _fill(services: EmbeddedServices, made: Any, *, messages: int) -> tuple[Any, str]:
    service = services.postgres.service
    if not isinstance(service, Postgres):
        raise TypeError("The first of the services is PostgreSQL.")
    began = time.perf_counter()
    load(service.admin_url(database=DATABASE), made.samples, messages=messages)
    print(f"{messages:,} messages loaded in {time.perf_counter() - began:.0f} s", flush=True)
    return made.owner, made.slug


def _pages(client: Client, slug: str) -> Iterator[tuple[str, str]]:
    """Each page by name, with its address."""
    base = f"/p/{slug}/conversations"
    yield "dashboard: later visits", f"/p/{slug}/"
    yield "conversations: first page", base
    yield "conversations: page 20", _page_after(client, base, pages=19)
    for name, query in NARROWED.items():
        yield f"conversations: {name}", f"{base}?{query}"
    for name, text in SEARCHES.items():
        yield name, f"{base}?{urlencode({'q': text})}"
    yield "search: further back", _page_after(client, f"{base}?{urlencode({'q': 'zeppelin'})}", pages=3)
    yield "failed jobs", f"/p/{slug}/jobs/failed"
    yield "api: conversations", "/api/v1/conversations"


def _page_after(client: Client, url: str, *, pages: int) -> str:
    path = url.partition("?")[0]
    for _ in range(pages):
        link = NEXT.search(client.get(url).content.decode())
        if link is None:
            raise RuntimeError(f"{url} has no next page; use more messages.")
        url = path + html.unescape(link[1])
    return url


def _first_visits(client: Client, slug: str) -> dict[str, dict[str, float]]:
    """The dashboard while none of its figures are counted, and how long it is until the page has them."""
    recent, url = import_module("console.dashboard.metrics_cache"), f"/p/{slug}/"
    # What a process loads for its first page is no matter here.
    _read(client, f"/p/{slug}/jobs/failed", slug=slug)
    answered, counted = [], []
    for _ in range(RUNS):
        recent._kept.clear()
        began = time.perf_counter()
        _read(client, url, slug=slug)
        answered.append(time.perf_counter() - began)
        for counting in list(recent._counting.values()):
            counting.result()
        _read(client, url, slug=slug)
        counted.append(time.perf_counter() - began)
    return {"dashboard: first visit": _spread(answered), COUNTED: _spread(counted)}


def _times_ms(client: Client, url: str, *, slug: str) -> dict[str, float]:
    """The median of several visits, and the slowest."""
    seconds = []
    for _ in range(RUNS):
        began = time.perf_counter()
        _read(client, url, slug=slug)
        seconds.append(time.perf_counter() - began)
    return _spread(seconds)


def _read(client: Client, url: str, *, slug: str) -> None:
    response = client.get(url, headers={"X-Project": slug})
    if response.status_code != 200:
        raise RuntimeError(f"{url} answered {response.status_code}.")


def _spread(seconds: list[float]) -> dict[str, float]:
    return {"median_ms": statistics.median(seconds) * 1000, "slowest_ms": max(seconds) * 1000}


if __name__ == "__main__":
    main()
