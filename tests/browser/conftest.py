"""A headless Chromium, and pages that fail the test when the console or the content security policy complains."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, sync_playwright

from tests.conftest import PASSWORD, Tenant
from tests.processes import ScriptedModel, Zygote

# Playwright's synchronous API runs a loop in this thread, which Django would take for an async view.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

DESK = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Counts the live stream's tokens, whatever the page makes of them.
COUNT_TOKENS = """
window.tokens = 0;
window.EventSource = class extends EventSource {
  constructor(url) { super(url); this.addEventListener("token", () => { window.tokens += 1; }); }
};
"""


# One per module: its loop runs in this thread until it stops, and other tests start loops of their own.
@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """CHROMIUM names the binary; otherwise the system's, otherwise the one that playwright installed."""
    binary = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    browser = playwright.chromium.launch(executable_path=binary, args=list(FLAGS))
    yield browser
    browser.close()


@dataclass(frozen=True)
class App:
    """The running product, and who may sign in."""

    base_url: str
    email: str
    password: str
    project: str
    model_url: str


@pytest.fixture
def app(tenant: Tenant, processes: Zygote, model: ScriptedModel) -> App:
    """Web and workers in processes of their own, with the offline model."""
    _, url = processes.web()
    processes.worker()
    return App(
        base_url=url,
        email=tenant.owner.email,
        password=PASSWORD,
        project=tenant.project.slug,
        model_url=model.url,
    )


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """What the console said against a page. A test that provokes some clears them; any other fails with them."""
    said: list[str] = []
    yield said
    assert said == []


@pytest.fixture
def page(app: App, browser: Browser, complaints: list[str]) -> Iterator[Page]:
    """A page of a desk's size, closed before the product stops."""
    yield from _watched_page(browser, DESK, complaints)


@pytest.fixture
def phone_page(app: App, browser: Browser, complaints: list[str]) -> Iterator[Page]:
    """The same, as wide as a phone."""
    yield from _watched_page(browser, PHONE, complaints)


def _watched_page(browser: Browser, viewport: dict[str, int], complaints: list[str]) -> Iterator[Page]:
    context = browser.new_context(viewport=viewport)
    context.add_init_script(COUNT_TOKENS)
    page = context.new_page()

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
