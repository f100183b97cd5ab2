"""The playground's phone: a whole call by typing what the caller says."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from conversations.models import Call
from projects.records.attributes import set_attribute
from tests.browser.conftest import App, open_page
from tests.browser.test_playground import send
from tests.calls_provider import Provider
from tests.conversations.calls.conftest import KITCHEN, Line
from tools.engine.transfers import TRANSFER_NUMBERS

pytestmark = pytest.mark.browser


@pytest.fixture
def phone(page: Page, app: App, calls_provider: Provider, settings: Any) -> Page:
    """The playground's phone, of a business with a kitchen."""
    settings.OFFLINE_CALLS_URL = f"{calls_provider.url}/v1"
    with app.tenant.tx():
        set_attribute(app.tenant.project, TRANSFER_NUMBERS, f"kitchen: {KITCHEN}")
    open_page(page, app, "playground")
    page.get_by_role("button", name="Phone", exact=True).click()
    return page


def state(page: Page) -> Any:
    return page.locator("#phone [role=status]")


def test_a_whole_call_is_typed(phone: Page, app: App) -> None:
    """The agent speaks first; its plan arrives during the call; it is transferred."""
    phone.get_by_role("button", name="Call", exact=True).click()
    expect(state(phone)).to_have_text("In a call")
    expect(phone.locator("#chat")).to_contain_text("Nello")
    send(phone, "Do you have a table for two on Friday?")
    expect(phone.locator("#chat .pg-turn")).to_have_count(2)
    phone.get_by_role("tab", name="Directives").click()
    expect(phone.locator("#directives")).to_contain_text("scenario", ignore_case=True)
    send(phone, "Please put me through to the kitchen.")
    expect(state(phone)).to_have_text(f"Transferred to {KITCHEN}")
    with app.tenant.tx():
        assert Call.objects.get().transferred_to == KITCHEN


def test_the_caller_hangs_up_and_calls_again(phone: Page, app: App) -> None:
    """A reload in between shows the same call."""
    phone.get_by_role("button", name="Call", exact=True).click()
    expect(state(phone)).to_have_text("In a call")
    phone.reload()
    expect(state(phone)).to_have_text("In a call")
    phone.get_by_role("button", name="Hang up").click()
    expect(state(phone)).to_have_text("Call ended")
    phone.get_by_role("button", name="Call", exact=True).click()
    expect(state(phone)).to_have_text("In a call")
    with app.tenant.tx():
        assert Call.objects.count() == 2
    phone.get_by_role("button", name="Hang up").click()
    expect(state(phone)).to_have_text("Call ended")


def test_a_member_speaks_with_the_agent(page: Page, app: App, calls_provider: Provider, settings: Any) -> None:
    """Over the provider that the project has connected; what is said is the test conversation's transcript."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    line = Line(app.tenant, calls_provider)
    line.connect()
    open_page(page, app, "playground")
    page.get_by_role("button", name="Phone", exact=True).click()
    page.get_by_role("button", name="Call with the microphone").click()
    card = page.get_by_role("region", name="Call with")
    expect(card).to_contain_text("In a call")
    expect(page.locator("#chat")).to_contain_text("Hello, how can I help you?")
    with app.tenant.tx():
        made = Call.objects.select_related("conversation").get()
    line.call_id = made.external_id
    assert made.conversation.is_test
    assert line.at_provider()["media"] == "connected"
    card.get_by_role("button", name="Hang up").click()
    line.until_state("ended")
    card.get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name="Call with the microphone")).to_be_focused()
