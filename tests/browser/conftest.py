"""A headless Chromium, and pages that fail the test when the console or the content security policy complains."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, sync_playwright

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


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """CHROMIUM names the binary; otherwise the system's, otherwise the one that playwright installed."""
    binary = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    browser = playwright.chromium.launch(executable_path=binary, args=list(FLAGS))
    yield browser
    browser.close()


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """What the console said against a page. A test that provokes some clears them; any other fails with them."""
    said: list[str] = []
    yield said
    assert said == []


@pytest.fixture
def page(browser: Browser, complaints: list[str]) -> Iterator[Page]:
    """A page of a desk's size."""
    yield from _watched_page(browser, DESK, complaints)


@pytest.fixture
def phone_page(browser: Browser, complaints: list[str]) -> Iterator[Page]:
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
