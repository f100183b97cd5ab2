"""A headless Chromium, and pages that fail the test when the console or the content security policy complains.

The product and the browser run as long as one browser test follows another: no process is started twice, and a page's parts are
fetched once. Each test has an organization of its own instead of an empty database.
"""

from __future__ import annotations

import json
import os
import shutil
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest
from allauth.account.internal.flows.login import record_authentication
from django.conf import settings
from django.db import connections
from django.http import HttpRequest
from django.test import Client
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Page,
    Playwright,
    Response,
    Route,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant, empty_database, make_tenant
from tests.processes import ForkServer, ScriptedModel, until

# Playwright's synchronous API runs a loop in this thread, which Django would take for an async view.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

# A loaded machine is no finding.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)

NOTHING = "/static/img/favicon.svg"
DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
# The shell keeps no windows, tabs or extensions: its own process does about a third of the work.
SHELLS, WHOLE = ("chromium-headless-shell",), ("chromium", "chromium-browser")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # One process draws every page: no new one with each site, and none for a GPU that isn't there.
    "--in-process-gpu",
    "--process-per-site",
    "--renderer-process-limit=1",
    "--disable-site-isolation-trials",
    # A microphone that beeps, and the permission to use it.
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
)
# Work that is due: what a turn, an effect or a timer still does.
DUE = "select count(*) from jobs_job where state = 'running' or (state = 'queued' and run_after <= now())"

# Work that would be due while a later test runs.
NO_TIMERS = """
update conversations_conversation set follow_up_at = null where follow_up_at is not null;
update conversations_wait set ended_at = now() where ended_at is null;
delete from jobs_job where state = 'queued'
"""

# A page that looks again every few seconds does so every two: a test has nothing to learn from waiting for the clock, and more
# often would be most of the work of the web process.
OFTEN = """
const every = window.setInterval;
window.setInterval = (call, ms, ...rest) => every(call, Math.min(ms, 2000), ...rest);
"""

Until = Literal["commit", "load"]
_numbers = count(1)


@pytest.fixture(scope="package")
def database(_schema: None) -> Iterator[None]:
    """One database for all of these tests: it is emptied after the last of them."""
    yield
    empty_database()


@pytest.fixture
def tenant(database: None) -> Tenant:
    """An organization that no other test knows of."""
    return make_tenant(f"Nello{next(_numbers)}")


@pytest.fixture(scope="package")
def product(database: None, _fork_server: ForkServer) -> Iterator[str]:
    """Web and a worker in processes of their own, with the offline model. Gives the address."""
    _fork_server.lease_seconds = None
    _, url = _fork_server.web(knows_address=True)
    _fork_server.worker(address=url)
    yield url
    _fork_server.kill_children()


@dataclass(frozen=True)
class App:
    """The running product, as an organization meets it."""

    base_url: str
    tenant: Tenant
    model: ScriptedModel

    @property
    def home(self) -> str:
        return f"{self.base_url}/p/{self.tenant.project.slug}"

    def call(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """POST to the API with the organization's key."""
        request = urllib.request.Request(f"{self.base_url}/api/v1{path}", json.dumps(body).encode())
        for name, value in {"Content-Type": "application/json", **self.tenant.headers}.items():
            request.add_header(name, value)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return dict(json.load(answer))


@pytest.fixture
def app(product: str, tenant: Tenant, model: ScriptedModel) -> Iterator[App]:
    yield App(product, tenant, model)
    # What is scripted for the next test is not for the work of this one, nor for what its timers would begin later.
    settle()
    bypass_rls(NO_TIMERS)


def settle() -> None:
    """Wait until no work is due, of whichever organization."""
    until(lambda: _due() == 0, seconds=PATIENCE_MS / 1000, what="the end of all work that is due")


def _due() -> int:
    with connections["ops"].cursor() as cursor:
        cursor.execute(DUE)
        return int(cursor.fetchone()[0])


# Its loop runs in this thread until it stops, and tests elsewhere start loops of their own.
@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    with chromium(playwright, *SHELLS, *WHOLE) as started:
        yield started


@contextmanager
def chromium(playwright: Playwright, *names: str) -> Iterator[Browser]:
    """CHROMIUM names the binary; otherwise the first of these that the system has, otherwise what playwright installed."""
    binary = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    started = playwright.chromium.launch(executable_path=binary, args=list(FLAGS))
    yield started
    started.close()


@pytest.fixture(scope="package")
def tab(browser: Browser, product: str) -> Iterator[Page]:
    """The one tab in which all tests take place: a new one costs four times what an address costs that is opened in it."""
    context = browser.new_context(viewport=DESK, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script(OFTEN)
    yield with_modules(context.new_page())
    context.close()


def with_modules(page: Page) -> Page:
    """The page, whose addresses are open once its modules have run: they start after the load, once it is painted."""
    opened = page.goto

    def goto(url: str, *, wait_until: Until = "load", **options: Any) -> Response | None:
        response = opened(url, wait_until=wait_until, **options)
        if wait_until == "load":
            page.locator("link[rel=mg-module]").first.wait_for(state="detached")
        return response

    page.goto = goto  # type: ignore[method-assign, assignment]  # the other parameters as they are
    return page


@dataclass
class Complaints:
    """Errors that the browser's console reported."""

    heard: list[str] = field(default_factory=list)
    provoked: list[str] = field(default_factory=list)

    def provoke(self, words: str) -> None:
        """The test brings this one about, whenever the console gets to say it."""
        self.provoked.append(words)

    @property
    def others(self) -> list[str]:
        return [text for text in self.heard if not any(words in text for words in self.provoked)]

    def note_message(self, message: ConsoleMessage) -> None:
        """Not that there is no favicon.ico: the browser asks for one when it likes, for what names no icon."""
        address = message.location["url"]
        if message.type in ("error", "warning") and not address.endswith("/favicon.ico"):
            self.heard.append(f"{message.text} {address}")

    def note_error(self, error: Error) -> None:
        self.heard.append(str(error))


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """A test fails with what it didn't provoke."""
    complaints = Complaints()
    yield complaints
    assert complaints.others == []


@pytest.fixture
def page(tab: Page, product: str, complaints: Complaints) -> Iterator[Page]:
    """The tab at a desk's size and in light, with nobody signed in, whatever the test before made of it. Afterwards it stands at an
    address where nothing goes on.
    """
    tab.on("console", complaints.note_message)
    tab.on("pageerror", complaints.note_error)
    yield tab
    tab.unroute_all(behavior="wait")
    tab.goto(f"{product}{NOTHING}")
    tab.set_viewport_size(DESK)
    tab.emulate_media(color_scheme="light", reduced_motion="reduce")
    tab.remove_listener("console", complaints.note_message)
    tab.remove_listener("pageerror", complaints.note_error)
    tab.context.clear_cookies()


@pytest.fixture
def phone_page(page: Page) -> Page:
    """The same, as wide as a phone."""
    page.set_viewport_size(PHONE)
    return page


def sign_in(page: Page, app: App, *, is_recent: bool = False) -> None:
    """As the owner, by a session that Django made: the form has a test of its own. With `is_recent`, pages of factors don't ask
    for the password again.
    """
    client = Client()
    client.force_login(app.tenant.owner)
    if is_recent:
        state = client.session
        request = cast(HttpRequest, SimpleNamespace(session=state))
        record_authentication(request, app.tenant.owner, "password", reauthenticated=True)
        state.save()
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": app.base_url}])


def open_page(page: Page, app: App, path: str, *, until: Until = "load") -> None:
    """A page of the project, as its owner sees it; when it is loaded, its scripts have run."""
    sign_in(page, app)
    page.goto(f"{app.home}/{path}", wait_until=until)


def hold_back(page: Page, address: str) -> Callable[[], None]:
    """Keep the answer to the next request of this address from the page, until what is given back is called."""
    held: list[Route] = []
    page.route(address, lambda route: held.append(route), times=1)

    def release() -> None:
        while not held:
            page.wait_for_timeout(20)
        held.pop().continue_()

    return release
