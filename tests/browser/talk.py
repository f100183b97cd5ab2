"""Talking to the agent: in the playground, or through the API where the browser is not the point."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import App, settle

SAID = ".mg-msg.me:not(.pg-superseded)"


def composer(page: Page) -> Locator:
    return page.get_by_label("Message as the customer")


def turn_title(page: Page) -> Locator:
    return page.locator("#turn-title")


def send(page: Page, text: str) -> None:
    composer(page).fill(text)
    composer(page).press("Enter")


def say(page: Page, text: str) -> None:
    """Send, and wait until the turn and its flows are done."""
    said = page.locator(SAID).count()
    send(page, text)
    expect(page.locator(SAID)).to_have_count(said + 1)
    expect(turn_title(page)).to_contain_text(re.compile(rf"Turn {said + 1}\s*Done in"))


def converse(app: App, *words: str, is_test: bool = False, **persona: str) -> str:
    """A conversation in which each message is answered, and all that it sets off is done. Gives its id.

    In a test, staff may go on as the customer, in the playground.
    """
    opened = {"channel": "chat", "persona": {"external_id": "guest", **persona}, "metadata": {"playground": is_test}}
    begun = app.call("/conversations", opened)
    for content in words:
        app.call(f"/conversations/{begun['id']}/messages", {"content": content})
        settle()
    return str(begun["id"])
