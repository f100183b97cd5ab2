"""Connecting a mail server in a real browser, and trying it."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import App
from tests.browser.test_agent_settings import open_section
from tests.conftest import Tenant
from tests.integrations.conftest import source_of

pytestmark = pytest.mark.browser


def fill(page: Page, **fields: str) -> None:
    card = page.get_by_role("region", name="E-mail (SMTP)")
    for label, value in fields.items():
        card.get_by_label(label.replace("_", " "), exact=True).fill(value)


def test_a_mail_server_is_connected_tried_and_disconnected(page: Page, app: App, tenant: Tenant) -> None:
    """The server of this test is inside a private network, so that trying it says so."""
    open_section(page, app, "integrations")
    card = page.get_by_role("region", name="E-mail (SMTP)")
    card.get_by_text("Connect", exact=True).first.click()
    fill(page, Server="smtp.invalid", From="hello@nello.example", User="agent", Password="a-long-password")
    card.get_by_role("button", name="Connect").click()
    expect(page.get_by_text("Connected: e-mails go out by it")).to_be_visible()
    expect(card.get_by_text("••••word")).to_be_visible()
    card.get_by_label("Send a test to").fill("me@example.org")
    card.get_by_role("button", name="Send a test").click()
    expect(card.get_by_text("couldn't be reached")).to_be_visible(timeout=20_000)
    disconnect(page, card)
    expect(page.get_by_text("the password is forgotten")).to_be_visible()
    assert source_of(tenant, "smtp") is None


def disconnect(page: Page, card: Any) -> None:
    card.get_by_text("Change the connection").click()
    card.get_by_role("button", name="Disconnect").click()
    page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
