"""A conversation that staff look at while it goes on."""

from __future__ import annotations

import json
import re
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import App
from tests.conftest import Tenant

pytestmark = pytest.mark.browser


def call(app: App, tenant: Tenant, path: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(f"{app.base_url}/api/v1{path}", data=json.dumps(body).encode(), method="POST")
    request.add_header("Content-Type", "application/json")
    request.add_header("Authorization", f"Bearer {tenant.key}")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return dict(json.load(answer))


def sign_in(page: Page, app: App) -> None:
    page.goto(f"{app.base_url}/account/login/")
    page.get_by_label("E-mail").fill(app.email)
    page.get_by_label("Password", exact=True).fill(app.password)
    page.get_by_role("button", name="Sign in").click()


def test_staff_see_what_is_said_and_learned_as_it_happens(page: Page, app: App, tenant: Tenant) -> None:
    """T17: what the observer learns is readable in the page, and leads to the words."""
    begun = call(app, tenant, "/conversations", {"channel": "chat", "persona": {"external_id": "guest"}})
    sign_in(page, app)
    page.goto(f"{app.base_url}/p/{app.project}/conversations")
    page.get_by_role("link", name=re.compile("Unnamed customer")).click()
    expect(page.get_by_text("Nothing said yet")).to_be_visible()
    said = {"content": "Hi, my name is Giulia Ferri. Do you have a table for four?"}
    reply = call(app, tenant, f"/conversations/{begun['id']}/messages?wait=20", said)["reply"]
    log = page.get_by_role("log")
    expect(log).to_contain_text("Giulia Ferri")
    expect(log).to_contain_text(reply["content"][:20])
    facts = page.locator("#facts")
    expect(facts).to_contain_text("Giulia Ferri")
    facts.get_by_role("button", name="message 1").first.click()
    expect(log.locator(".cv-lit")).to_contain_text("my name is Giulia")
    expect(page.locator("#directives")).to_contain_text("written after turn 1")
