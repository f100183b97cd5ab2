"""The simulated phone: SMS, WhatsApp and Telegram of a customer, without a provider."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, App, open_page
from tests.calls_provider import Provider

pytestmark = pytest.mark.browser


@pytest.fixture
def phones(page: Page, app: App, calls_provider: Provider) -> Page:
    """The page, with the three channels connected by one click."""
    open_page(page, app, "simulated-phone")
    page.get_by_role("main").get_by_role("button", name="Connect", exact=True).click()
    expect(page.locator(".ph-write")).to_have_count(3)
    return page


def write(page: Page, kind: str, text: str) -> Locator:
    """Write as the customer. Returns the phone."""
    phone = page.locator(f".ph[data-kind={kind}]")
    phone.get_by_placeholder("Message").fill(text)
    phone.get_by_role("button", name="Send").click()
    return phone


def test_a_text_is_answered_and_its_receipt_comes(phones: Page, app: App) -> None:
    app.model.script("reply", text="Yes, from noon to ten.")
    phone = write(phones, "twilio", "Are you open on Sunday?")
    expect(phone.locator(".ph-b.me")).to_contain_text("Are you open on Sunday?")
    expect(phone.locator(".ph-b:not(.me)")).to_contain_text("Yes, from noon to ten.")
    expect(phone.locator(".ph-b:not(.me) [data-state=delivered]")).to_be_visible()
    expect(phone.locator(".ph-b.me [data-state=answered]")).to_be_visible()
    expect(phone.get_by_placeholder("Message")).to_be_empty()


def test_whatsapp_is_read_and_telegram_sent(phones: Page, app: App) -> None:
    for kind, state in (("whatsapp", "read"), ("telegram", "sent")):
        phone = write(phones, kind, "Are dogs allowed?")
        expect(phone.locator(f".ph-b:not(.me) [data-state={state}]").first).to_be_visible()


def test_the_phone_is_switched_off_and_the_chat_is_in_the_inbox(phones: Page, app: App) -> None:
    phone = write(phones, "twilio", "HELP")
    expect(phone.locator(".ph-b:not(.me) [data-state=delivered]")).to_be_visible()
    phone.get_by_role("button", name="Go out of reach").click()
    expect(phone.get_by_text("Messages fail")).to_be_visible()
    write(phones, "twilio", "Are dogs allowed?")
    expect(phone.get_by_text("Messages fail")).to_be_hidden()
    phone.get_by_role("link", name="Open in the inbox").click()
    expect(phones.locator("#main")).to_contain_text("Are dogs allowed?")


def test_on_a_phone_a_chat_opens_at_its_end(phones: Page, app: App) -> None:
    app.model.script("reply", text="Yes. " * 400)
    phone = write(phones, "whatsapp", "Are dogs allowed?")
    expect(phone.locator(".ph-b:not(.me)").last).to_be_visible()
    phones.set_viewport_size(PHONE)
    phones.reload()
    phones.get_by_role("button", name="WhatsApp").click()
    log = phone.locator(".ph-log")
    expect(log).to_be_visible()
    assert log.evaluate("log => log.scrollHeight - log.clientHeight - log.scrollTop < 40 && log.scrollTop > 0")
