"""A call from a business's page: a real handshake of WebRTC between Chromium and the offline provider."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from conversations.models import Call
from tests.browser.conftest import App, Complaints
from tests.browser.shop import Shop
from tests.browser.test_widget import launcher, shop
from tests.calls_provider import Provider
from tests.conversations.calls.conftest import Line
from tests.conversations.widget.conftest import Placed, place_widget

pytestmark = pytest.mark.browser

__all__ = ["shop"]


@pytest.fixture
def line(app: App, calls_provider: Provider, settings: Any) -> Line:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    line = Line(app.tenant, calls_provider)
    line.connect()
    return line


@pytest.fixture
def placed(app: App, shop: Shop, line: Line) -> Placed:
    return place_widget(app.tenant, origins=(shop.origin,), call_button="on")


@pytest.fixture
def open_shop_page(page: Page, shop: Shop, placed: Placed) -> Page:
    page.goto(shop.address(placed.key))
    launcher(page).click()
    return page


def card(page: Page) -> Locator:
    return page.get_by_role("region", name="Call with")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def call(page: Page) -> None:
    page.get_by_role("button", name="Call ").click()


def newest_call(line: Line) -> Call:
    with line.tenant.tx():
        found = Call.objects.order_by("-created_at")[0]
    line.call_id = found.external_id
    return found


def test_a_customer_calls_from_the_page(open_shop_page: Page, line: Line) -> None:
    """The browsers' audio is connected, what is said is shown, and the agent's goodbye ends the call."""
    page = open_shop_page
    call(page)
    expect(card(page)).to_contain_text("In a call")
    expect(card(page).get_by_role("log")).to_contain_text("Hello, how can I help you?")
    newest_call(line)
    assert line.at_provider()["media"] == "connected"
    line.say("Have you a table?", {"say": "For how many?"})
    expect(card(page).get_by_role("log")).to_contain_text("For how many?")
    press(page, "Mute")
    expect(page.get_by_role("button", name="Mute")).to_have_attribute("aria-pressed", "true")
    line.say("Bye.", {"say": "Goodbye!", "call": "end_call"})
    expect(card(page)).to_contain_text("Call ended")
    press(page, "Close")
    expect(page.get_by_label("Your message")).to_be_visible()
    expect(page.get_by_role("button", name="Call ")).to_be_focused()
    assert line.until_state("ended").connected_at is not None


def test_a_call_is_made_by_keyboard_alone(open_shop_page: Page, line: Line) -> None:
    page = open_shop_page
    page.get_by_role("button", name="Call ").press("Enter")
    expect(card(page)).to_contain_text("In a call")
    page.get_by_role("button", name="Hang up").press("Enter")
    expect(card(page)).to_contain_text("Call ended")
    expect(page.get_by_role("button", name="Call again")).to_be_focused()
    newest_call(line)
    line.until_state("ended")


def test_a_second_tab_says_that_a_call_goes_on(open_shop_page: Page, line: Line) -> None:
    page = open_shop_page
    call(page)
    expect(card(page)).to_contain_text("In a call")
    other = page.context.new_page()
    other.goto(page.url)
    # The panel opens by itself, as it was left.
    call(other)
    expect(other.get_by_role("alert").filter(has_text="already in a call")).to_be_visible()
    other.close()
    press(page, "Hang up")
    newest_call(line)
    line.until_state("ended")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ("NotAllowedError", "The microphone is blocked."),
        ("NotFoundError", "No microphone was found."),
        ("NotReadableError", "Another program is using the microphone."),
    ],
)
def test_a_missing_microphone_says_what_to_do(
    page: Page, shop: Shop, placed: Placed, line: Line, error: str, sentence: str
) -> None:
    """Nothing is stored."""
    page.goto(shop.address(placed.key))
    page.evaluate(
        f"() => {{ navigator.mediaDevices.getUserMedia = async () => {{ throw new DOMException('', '{error}') }} }}"
    )
    launcher(page).click()
    call(page)
    expect(page.get_by_role("alert").filter(has_text=sentence)).to_be_visible()
    with line.tenant.tx():
        assert not Call.objects.exists()


def test_a_network_that_blocks_the_audio_says_so(page: Page, shop: Shop, placed: Placed, line: Line) -> None:
    """Media may only go over a relay, and there is none."""
    page.goto(shop.address(placed.key))
    page.evaluate(
        "() => { window.RTCPeerConnection = class extends RTCPeerConnection"
        " { constructor() { super({ iceTransportPolicy: 'relay' }) } } }"
    )
    launcher(page).click()
    call(page)
    expect(page.get_by_role("alert").filter(has_text="Your network blocks calls.")).to_be_visible()
    newest_call(line)
    assert "network" in line.until_state("failed").reason


def test_a_provider_that_refuses_says_so(open_shop_page: Page, line: Line, complaints: Complaints) -> None:
    page = open_shop_page
    line.provider.door("faults", {"create": 403})
    call(page)
    expect(page.get_by_role("alert").filter(has_text="couldn’t be connected")).to_be_visible()
