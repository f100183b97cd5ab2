"""From signing up to the first reply, and a colleague after that, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import App

pytestmark = pytest.mark.browser

PASSWORD = "seven green bottles"


def sign_up(page: Page, app: App, email: str) -> None:
    page.goto(f"{app.base_url}/account/login/")
    page.get_by_role("link", name="Make your agent").click()
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()


def name_business(page: Page, name: str, kind: str) -> None:
    page.get_by_label("What is your business called?").fill(name)
    page.locator("label", has_text=re.compile(rf"^\s*{kind}")).click()
    page.get_by_role("button", name="Talk to my agent").click()


def test_newcomer_talks_to_an_agent_of_their_own(page: Page, app: App) -> None:
    sign_up(page, app, "ada@new.example")
    name_business(page, "Praxis Lindenhof", "Clinic")
    opener = page.locator("#openers button").first
    expect(opener).to_contain_text("appointment")
    opener.click()
    reply = page.locator(".mg-msg:not(.me) p").first
    expect(reply).to_contain_text("Praxis Lindenhof", timeout=20_000)
    expect(page.locator("#turn-title")).to_contain_text("Done in", timeout=20_000)


def test_colleague_joins_by_the_link(page: Page, app: App) -> None:
    sign_up(page, app, "ada@new.example")
    name_business(page, "Fjordwear", "Shop")
    page.get_by_role("link", name="Members").click()
    page.get_by_label("E-mail").fill("lena@new.example")
    page.get_by_role("button", name="Make the link").click()
    link = page.get_by_label("Link for lena@new.example").input_value()
    page.get_by_role("button", name="ada, your menu").click()
    page.get_by_role("button", name="Sign out").click()
    # Made for the address that people see; the test's server listens elsewhere.
    page.goto(app.base_url + "/invitations/" + link.rsplit("/", 1)[1])
    page.get_by_label("Your name").fill("Lena Brandt")
    page.get_by_label("Choose a password").fill(PASSWORD)
    page.get_by_role("button", name="Make my account and join").click()
    expect(page.get_by_role("button", name="Lena Brandt, your menu")).to_be_visible()


def test_key_is_made_copied_and_revoked(page: Page, app: App) -> None:
    sign_up(page, app, "ada@new.example")
    name_business(page, "Fjordwear", "Shop")
    page.get_by_role("link", name="API keys").click()
    page.get_by_label("What it is for").fill("Website")
    page.get_by_role("button", name="Make key").click()
    expect(page.get_by_label("The new key")).to_have_value(re.compile(r"^mg_[0-9a-f]{8}_[\w-]{43}$"))
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name=re.compile("Copied|Press Ctrl C"))).to_be_visible()
    page.get_by_role("button", name="Revoke Website").click()
    page.get_by_role("dialog").get_by_role("button", name="Keep").click()
    expect(page.locator("[data-row=Website]")).to_contain_text("Never used")
    page.get_by_role("button", name="Revoke Website").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.locator("[data-row=Website]")).to_contain_text("Revoked")
