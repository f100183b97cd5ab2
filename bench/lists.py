"""Measures the load times of list pages and of the article search in a large tenant: `python -m bench.lists`.

One tenant is filled with messages, todos and articles. Each page is requested as a signed-in browser does, through all
of Django, and read to its last byte.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import django
from django.core.management import call_command
from django.test import Client

from bench.lists_data import RARE, load
from bench.processes import cpu_seconds
from config.runner.embedded import EmbeddedServices
from config.runner.postgres import DATABASE, Postgres

RUNS = 9
PAGE_MS, INBOX_MS, BOARD_MS, SEARCH_MS = 200, 100, 300, 50
NEXT = re.compile(r'href="([^"]+)" (?:rel="next"|data-further)')
NARROWED = {
    "one channel": "channel=phone",
    "a channel that nobody uses": "channel=telegram",
    "open ones": "status=open",
    "open ones on one channel": "status=open&channel=sms",
    "flagged": "flagged=1",
    "unassigned": "assignee=none",
    "snoozed": "state=snoozed",
    "closed": "state=closed",
    "with a tag": "tag={tag}",
    "with a tag that few have": "tag={rare_tag}",
    "test conversations": "test=1",
    "requests for a person": "request=open",
    "rated badly": "rating=bad",
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


PEOPLE = {
    "a name": "Giulia Ferri",
    "the beginning of a name that many have": "giu",
    "the end of a phone number": "347 0004217",
    "an e-mail address": "guest4217@",
    "nobody": "zeppelin",
}


@dataclass(frozen=True)
class Figure:
    """Times in milliseconds. Without a goal, no time is too long.

    `cpu_ms` is the CPU time of this process and its servers per visit, which other work on the machine changes little.
    """

    name: str
    median_ms: float
    cpu_ms: float
    slowest_ms: float
    goal_ms: float | None

    def __str__(self) -> str:
        late = "  over the goal" if self.goal_ms and self.median_ms > self.goal_ms else ""
        goal = f"   goal {self.goal_ms:.0f}{late}" if self.goal_ms else ""
        times = f"{self.median_ms:>6.0f} ms median{self.cpu_ms:>6.0f} ms CPU{self.slowest_ms:>6.0f} ms slowest"
        return f"{self.name:<56}{times}{goal}"


@dataclass(frozen=True)
class Browser:
    """The owner's browser in one project."""

    client: Client
    slug: str

    def read(self, url: str) -> str:
        """Read a page to its last byte. Raises RuntimeError for any status but 200."""
        response = self.client.get(url, headers={"X-Project": self.slug})
        if response.status_code != 200:
            raise RuntimeError(f"{url} answered {response.status_code}.")
        return response.content.decode()

    def page_after(self, url: str, *, pages: int) -> str:
        """The URL this many pages further on."""
        for _ in range(pages):
            link = NEXT.search(self.read(url))
            if link is None:
                raise RuntimeError(f"{url} has no next page; use more messages.")
            url = html.unescape(link[1])
        return url


def main() -> None:
    options = _options()
    with EmbeddedServices(options.data, durable=True) as services:
        prepare(services)
        tenant = _tenant(services, options)
        client = Client(SERVER_NAME="localhost")
        client.force_login(tenant.owner)
        browser = Browser(client, tenant.project.slug)
        figures = list(_figures(browser, tenant, options))
    print(*figures, sep="\n")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if options.out:
        document = {"messages": options.messages, "todos": options.todos, "figures": [vars(one) for one in figures]}
        options.out.write_text(json.dumps(document, indent=1) + "\n")


def _options() -> argparse.Namespace:
    description, *_ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m bench.lists", description=description)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--todos", type=int, default=100_000)
    parser.add_argument("--articles", type=int, default=10_000)
    parser.add_argument("--data", type=Path, help="keep the servers' data here, and use it again")
    parser.add_argument("--out", type=Path, help="write the times as JSON")
    return parser.parse_args()


def prepare(services: EmbeddedServices) -> None:
    """Set up Django with these servers and create the tables."""
    os.environ.update(services.env)
    os.environ.update(DJANGO_SETTINGS_MODULE="config.settings", MAKEGOOD_OFFLINE="1")
    django.setup()
    call_command("migrate", verbosity=0)


def _tenant(services: EmbeddedServices, options: argparse.Namespace) -> Any:
    """The tenant; it is filled unless existing data is reused."""
    # Models can be imported only after the settings are configured.
    samples = import_module("bench.lists_tenant")
    if found := samples.find_tenant():
        return found
    service = services.postgres.service
    if not isinstance(service, Postgres):
        raise TypeError("The first of the services is PostgreSQL.")
    tenant, rows = samples.make_tenant()
    began = time.perf_counter()
    import_module("bench.lists_articles").load_articles(tenant.project, number=options.articles)
    load(service.admin_url(database=DATABASE), rows, messages=options.messages, todos=options.todos)
    print(f"loaded in {time.perf_counter() - began:.0f} s", flush=True)
    return tenant


def _figures(browser: Browser, tenant: Any, options: argparse.Namespace) -> Iterator[Figure]:
    yield from _first_visits(browser)
    for name, url in _inbox_pages(browser, tenant):
        yield _figure(name, partial(browser.read, url), goal_ms=INBOX_MS)
    for name, url in _pages(browser, tenant):
        yield _figure(name, partial(browser.read, url), goal_ms=PAGE_MS)
    for name, url in _todo_pages(browser, tenant.todo):
        yield _figure(name, partial(browser.read, url), goal_ms=BOARD_MS)
    articles = import_module("bench.lists_articles")
    for name, text in articles.QUESTIONS.items():
        yield _figure(f"articles: {name}", partial(articles.ask, tenant.project, text), goal_ms=SEARCH_MS)


def _first_visits(browser: Browser) -> Iterator[Figure]:
    """The load times of the pages of figures before these are counted, and the time until the page has them."""
    # One-time loading of the first page doesn't count.
    browser.read(f"/p/{browser.slug}/jobs/failed")
    for name, url in _counted_pages(browser):
        yield from _first_visit(browser, name, url)


def _first_visit(browser: Browser, name: str, url: str) -> Iterator[Figure]:
    cache = import_module("conversations.analytics.figure_cache")
    answered, counted = [], []
    spent = cpu_seconds(os.getpid())
    for _ in range(RUNS):
        cache._kept.clear()
        began = time.perf_counter()
        browser.read(url)
        answered.append(time.perf_counter() - began)
        for counting in list(cache._counting.values()):
            counting.result()
        browser.read(url)
        counted.append(time.perf_counter() - began)
    # Of both visits and of the counting between them.
    cpu_s = (cpu_seconds(os.getpid()) - spent) / RUNS
    yield _spread(f"{name}: first visit", answered, cpu_s=cpu_s, goal_ms=PAGE_MS)
    yield _spread(f"{name}: until its figures are there", counted, cpu_s=cpu_s, goal_ms=None)


def _counted_pages(browser: Browser) -> Iterator[tuple[str, str]]:
    base = f"/p/{browser.slug}/"
    yield "dashboard", base
    yield "dashboard of 30 days", f"{base}?days=30"
    yield "analytics of 30 days", f"{base}analytics"
    yield "analytics of 90 days", f"{base}analytics?days=90"


def _inbox_pages(browser: Browser, tenant: Any) -> Iterator[tuple[str, str]]:
    """The inbox by tab, filter and search, with their URLs."""
    base = f"/p/{browser.slug}/inbox"
    yield "inbox: waiting for us", base
    yield "inbox: waiting for us, page 3", f"{base}?page=3"
    yield "inbox: waiting and unassigned", f"{base}?assignee=none"
    yield "inbox: mine", f"{base}?view=mine"
    yield "inbox: all", f"{base}?view=all"
    yield "inbox: all, page 20", browser.page_after(f"{base}?view=all", pages=19)
    yield "inbox: the list read again", f"{base}?part=list"
    for name, query in NARROWED.items():
        yield f"inbox: {name}", f"{base}?view=all&{query.format(**tenant.tags)}"
    today = datetime.now(tz=UTC).date()
    cell = f"view=all&since={today - timedelta(days=30)}&until={today}"
    for name in ("resolved", "handed_over", "unanswered"):
        yield f"inbox: {name} in 30 days", f"{base}?{cell}&outcome={name}"
    yield "inbox: by hour and topic in 30 days", f"{base}?{cell}&hour=12&topic=none"
    for name, text in SEARCHES.items():
        yield f"inbox {name}", f"{base}?{urlencode({'q': text})}"
    yield "inbox search: within a tag", f"{base}?{urlencode({'q': 'terrace', 'tag': tenant.tags['tag']})}"
    yield "inbox search: further back", browser.page_after(f"{base}?{urlencode({'q': 'zeppelin'})}", pages=3)


def _pages(browser: Browser, tenant: Any) -> Iterator[tuple[str, str]]:
    """The other pages by name, with their URLs."""
    for name, url in _counted_pages(browser):
        yield f"{name}: later visits", url
    yield "api: analytics", "/api/v1/analytics"
    yield "inbox: with a conversation opened", f"/p/{browser.slug}/inbox/{tenant.conversation}"
    base = f"/p/{browser.slug}/people"
    yield "people", base
    yield "people: page 20", browser.page_after(base, pages=19)
    for name, text in PEOPLE.items():
        yield f"people search: {name}", f"{base}?{urlencode({'q': text})}"
    yield "palette: a name", f"/p/{browser.slug}/palette?q=giulia"
    yield "palette: a word that nobody says", f"/p/{browser.slug}/palette?q=zeppelin"
    yield "failed jobs", f"/p/{browser.slug}/jobs/failed"
    yield "api: conversations", "/api/v1/conversations"


def _todo_pages(browser: Browser, todo: Any) -> Iterator[tuple[str, str]]:
    base = f"/p/{browser.slug}/todos"
    yield "todos: board", base
    yield "todos: board beside one todo", f"{base}/{todo}"
    yield "todos: changes since the last look", f"{base}/news?todo={todo}"
    yield "todos: list", f"{base}?view=list"
    yield "todos: list to review, with boxes", f"{base}?view=list&state=pending_review"
    yield "todos: list of a state that few are in", f"{base}?view=list&state=cancelled"


def _figure(name: str, visit: Callable[[], object], *, goal_ms: float) -> Figure:
    seconds = []
    visit()
    spent = cpu_seconds(os.getpid())
    for _ in range(RUNS):
        began = time.perf_counter()
        visit()
        seconds.append(time.perf_counter() - began)
    return _spread(name, seconds, cpu_s=(cpu_seconds(os.getpid()) - spent) / RUNS, goal_ms=goal_ms)


def _spread(name: str, seconds: list[float], *, cpu_s: float, goal_ms: float | None) -> Figure:
    return Figure(name, statistics.median(seconds) * 1000, cpu_s * 1000, max(seconds) * 1000, goal_ms)


if __name__ == "__main__":
    main()
