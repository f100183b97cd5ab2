"""The customer's page and the demo's shop in a real browser: what goes on is seen, and nobody is kept out."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import F
from playwright.sync_api import Locator, Page, Route, expect

from conversations.handover.operators import answer, take_over
from conversations.models import Call, Conversation, Persona
from conversations.turns.services import give_fields, start_conversation
from tests.browser.axe import everywhere
from tests.browser.conftest import PHONE, App, Complaints, open_page
from tests.browser.talk import composer
from tests.browser.test_business import book_table
from tests.browser.test_widget import configure, launcher, log, say
from tests.calls_provider import Provider
from tests.conversations.calls.conftest import Line
from tests.conversations.widget.conftest import place_widget
from tools.models import Booking, Verification
from tools.services.signed_links import PortalTarget, portal_token
from tools.services.verification.services import record_verification

pytestmark = pytest.mark.browser

PHONE_NUMBER = "+39 347 555 0142"


@pytest.fixture
def own_page(page: Page, app: App) -> Page:
    """The page of a customer who has called."""
    with app.tenant.tx():
        known = {"phone": PHONE_NUMBER}
        call = start_conversation(app.tenant.project, channel="phone", external_id="ada", known=known, metadata={})
    token = portal_token(PortalTarget(app.tenant.organization.pk, call.persona_id), until=40_000)
    page.goto(f"{app.base_url}/c/{token}")
    return page


def write(page: Page, words: str) -> None:
    page.get_by_label("Your message").fill(words)
    page.get_by_label("Your message").press("Enter")


def test_a_reply_in_progress_is_shown_after_a_reload(own_page: Page, app: App) -> None:
    """Somebody who comes in the middle of it sees that one comes, and then the answer once."""
    app.model.script("reply", fault="hang")
    said = own_page.get_by_role("log")
    write(own_page, "Do you have vegan dishes?")
    busy = said.locator('[data-role="agent"][aria-busy]')
    expect(busy).to_have_count(1)
    own_page.reload()
    expect(busy).to_have_count(1)
    app.model.script("reply", text="There are four, and all of them are good.")
    write(own_page, "Hello?")
    expect(said.locator('[data-role="agent"][data-id]')).to_have_text("Agent:There are four, and all of them are good.")
    expect(busy).to_have_count(0)


def test_an_open_page_shows_a_chat_started_elsewhere(own_page: Page, app: App) -> None:
    """Wherever the customer writes it; the other page may be on another device."""
    app.model.script("reply", text="Good evening.")
    with own_page.context.browser.new_context() as elsewhere:  # type: ignore[union-attr]
        other = elsewhere.new_page()
        with other.expect_response("**/events?*"):
            other.goto(own_page.url)
        write(own_page, "Hello")
        for page in (other, own_page):
            expect(page.get_by_role("log").locator(".po-said")).to_have_text(["You:Hello", "Agent:Good evening."])


def test_a_customer_verifies_their_identity_on_their_page(own_page: Page, app: App) -> None:
    """With the form, by what is on file; what is theirs appears when the agent has found it right."""
    configure(app, caller_verification="basic")
    own_page.reload()
    bookings = own_page.get_by_role("heading", name="Your bookings", exact=True)
    expect(bookings).to_have_count(0)
    app.model.script("reply", tool_calls=[{"name": "verify_caller", "arguments": {"phone": PHONE_NUMBER}}])
    app.model.script("reply", text="Thank you, Ada.")
    own_page.get_by_label("The phone number or e-mail").fill(PHONE_NUMBER)
    own_page.get_by_role("button", name="Show").click()
    expect(bookings).to_have_count(1)
    expect(own_page.get_by_role("log")).to_contain_text("Thank you, Ada.")


def test_a_new_chat_continues_when_the_verification_has_expired(own_page: Page, app: App) -> None:
    """A page that was left open for longer than a proof holds goes on in a new chat, without being loaded again."""
    configure(app, caller_verification="basic")
    app.model.script("reply", text="Good evening.")
    said = own_page.get_by_role("log")
    write(own_page, "Hello")
    expect(said).to_contain_text("Good evening.")
    with app.tenant.tx():
        chat = Conversation.objects.get(channel="portal")
        record_verification(app.tenant.project, persona_id=chat.persona_id, conversation_id=chat.pk, method="basic")
        Verification.objects.update(verified_at=F("verified_at") - timedelta(minutes=61))
        Conversation.objects.filter(pk=chat.pk).update(created_at=F("created_at") - timedelta(minutes=62))
    app.model.script("reply", text="Good night.")
    write(own_page, "And now?")
    expect(said).to_contain_text("Good night.")


def test_a_refused_stream_reconnects(own_page: Page, app: App, complaints: Complaints) -> None:
    """A browser gives up what is answered with anything but a stream; the page is told all the same."""
    complaints.provoke("503")
    own_page.route("**/events?*", lambda route: route.fulfill(status=503))
    app.model.script("reply", text="Good evening.")
    with own_page.expect_response("**/events?*"):
        write(own_page, "Hello")
    own_page.unroute("**/events?*")
    expect(own_page.get_by_role("log")).to_contain_text("Good evening.")


def test_a_message_is_not_duplicated_after_a_lost_response(own_page: Page, app: App, complaints: Complaints) -> None:
    """They have arrived, and the page can't know it; who sends them again says nothing twice."""
    complaints.provoke("ERR_FAILED")

    def lose_the_answer(route: Route) -> None:
        if route.request.method != "POST":
            return route.continue_()
        route.fetch()
        return route.abort()

    app.model.script("reply", text="Good evening.")
    own_page.route("**/c/*", lose_the_answer)
    write(own_page, "Hello")
    expect(own_page.get_by_role("alert")).to_contain_text("no connection")
    own_page.unroute("**/c/*")
    own_page.get_by_label("Your message").press("Enter")
    expect(own_page.get_by_role("log")).to_contain_text("Good evening.")
    expect(own_page.locator('[data-role="user"]')).to_have_text(["You:Hello"])


def test_late_tokens_leave_no_trace_after_the_reply(own_page: Page, app: App) -> None:
    """A stream that has caught up tells of the end of a turn before its last words. What it counts are code points."""
    message = {"id": "m1", "seq": 2, "role": "agent", "content": "Good evening 👋 Ada.", "blocks": [], "turn": "t1"}
    told = [
        ("turn", {"turn": "t1", "status": "replying"}),
        ("message", message),
        ("token", {"turn": "t1", "attempt": 1, "offset": 0, "text": "Good evening"}),
        ("turn", {"turn": "t2", "status": "replying"}),
        ("token", {"turn": "t2", "attempt": 1, "offset": 0, "text": "One 👋"}),
        ("token", {"turn": "t2", "attempt": 1, "offset": 5, "text": " more."}),
    ]
    frames = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in told)
    own_page.route(
        "**/events?*", lambda route: route.fulfill(body=f"retry: 600000\n\n{frames}", content_type="text/event-stream")
    )
    write(own_page, "Hello")
    expect(own_page.locator('[data-role="agent"][aria-busy] p')).to_have_text("One 👋 more.")
    expect(own_page.locator('[data-role="agent"] p')).to_have_text(["Good evening 👋 Ada.", "One 👋 more."])


def stays_until_it_fits(page: Page, field: Locator, longest: int, sentence: str) -> None:
    """The field keeps a text that is too long, shows the limit, and sends the text once it is short enough."""
    field.focus()
    page.keyboard.insert_text("a" * (longest + 1))
    expect(page.get_by_text(sentence)).to_be_visible()
    field.press("Enter")
    expect(field).to_have_value("a" * (longest + 1))
    field.press("End")
    field.press("Backspace")
    expect(page.get_by_text(sentence)).to_have_count(0)
    field.press("Enter")
    expect(field).to_have_value("")
    expect(page.get_by_role("log")).to_contain_text("a" * longest)


def test_a_long_paste_on_the_customer_page_is_not_truncated(own_page: Page, app: App) -> None:
    field = own_page.get_by_label("Your message")
    stays_until_it_fits(own_page, field, 4_000, "Too long: 4,001 of 4,000 characters.")


def test_a_long_paste_in_the_playground_is_not_truncated(page: Page, app: App) -> None:
    open_page(page, app, "playground")
    stays_until_it_fits(page, composer(page), 8_000, "Too long: 8,001 of 8,000 characters.")


@pytest.mark.requirement("W03")
def test_the_human_button_works_without_javascript(own_page: Page, app: App) -> None:
    """It is a form of the page, which the browser sends by itself."""
    app.model.script_tool(
        "escalate_to_human",
        {"reason": "A complaint."},
        asked="A person!",
        told="asked to take over",
        reply="A colleague can help.",
    )
    write(own_page, "A person!")
    own_page.get_by_role("button", name="Connect me with a human").click()
    expect(own_page.get_by_role("status")).to_contain_text("A colleague was asked to take over")


def test_a_booking_made_in_the_chat_appears_at_once(own_page: Page, app: App) -> None:
    """Without loading the page again; and a colleague's words are seen to be a person's."""
    expect(own_page.locator("#booked")).to_contain_text("No bookings yet.")
    booking = book_table(app.tenant)
    with app.tenant.tx():
        Booking.objects.filter(pk=booking.pk).update(persona_id=Persona.objects.get(external_id="ada").pk)
    app.model.script("reply", text="Your table is booked.")
    write(own_page, "Hello")
    expect(own_page.locator("#booked a")).to_have_count(1)
    with app.tenant.tx():
        chat = Conversation.objects.get(channel="portal")
        take_over(chat.pk, by=app.tenant.owner)
        answer(chat.pk, "Good evening, Ada.", by=app.tenant.owner)
    expect(own_page.get_by_role("log")).to_contain_text("a colleague")


def test_the_customer_page_is_accessible(own_page: Page, app: App) -> None:
    """With a chat; and with what it says to somebody of whom it isn't sure who they are."""
    app.model.script("reply", text="Good evening: https://example.com/menu.")
    write(own_page, "Hello")
    expect(own_page.get_by_role("log")).to_contain_text("Good evening")
    found = everywhere(own_page)
    configure(app, caller_verification="code")
    own_page.reload()
    expect(own_page.get_by_role("main")).to_contain_text("Confirm it’s you")
    assert found + everywhere(own_page) == []


@pytest.mark.requirement("W03", "W07")
def test_the_demo_shop_shows_an_article_and_a_person_accessibly(page: Page, app: App) -> None:
    """With the offline model's own answers, as whoever tries the product sees it."""
    call_command("demo", "--json", stdout=StringIO())
    page.goto(f"{app.base_url}/demo/shop")
    found = everywhere(page)
    launcher(page).click()
    say(page, "How do I keep fresh olive oil?")
    expect(page.get_by_role("link", name="From our help pages")).to_contain_text("How do I keep fresh olive oil?")
    say(page, "Where is my order?")
    expect(log(page)).to_contain_text("as soon as you are signed in to the shop")
    page.get_by_role("button", name="Close chat").click()
    page.get_by_role("link", name="Sign in as Clara").click()
    expect(page.get_by_role("banner")).to_contain_text("Clara Conti")
    launcher(page).click()
    say(page, "A person, please")
    page.get_by_role("button", name="Connect me with a human").click()
    expect(page.get_by_label("Name")).to_have_value("Clara Conti")
    found += everywhere(page)
    assert found == []


def test_a_right_to_left_page_fits_its_window(own_page: Page, app: App) -> None:
    """With the customer's own language, and nothing beside it that scrolls."""
    with app.tenant.tx():
        give_fields(Persona.objects.get(external_id="ada"), {"language": "ar"})
    own_page.reload()
    expect(own_page.locator("html")).to_have_attribute("dir", "rtl")
    own_page.set_viewport_size(PHONE)
    assert own_page.evaluate("document.scrollingElement.scrollWidth - innerWidth") == 0
    app.model.script("reply", text="مساء الخير")
    own_page.get_by_label("رسالتك").fill("مرحبا")
    own_page.get_by_role("button", name="إرسال").click()
    expect(own_page.get_by_role("log").locator(".po-said")).to_have_text(["أنت:مرحبا", "الوكيل:مساء الخير"])


# Calls


def test_a_customer_calls_from_their_page(own_page: Page, app: App, calls_provider: Provider, settings: Any) -> None:
    """The audio is connected, what is said is shown, and the button comes back."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    line = Line(app.tenant, calls_provider)
    line.connect()
    place_widget(app.tenant, call_button="on")
    own_page.reload()
    own_page.get_by_role("button", name="Call ").click()
    card = own_page.get_by_role("region", name="Call with")
    expect(card).to_contain_text("In a call")
    expect(card.get_by_role("log")).to_contain_text("Hello, how can I help you?")
    assert everywhere(own_page) == []
    with app.tenant.tx():
        line.call_id = Call.objects.get().external_id
    assert line.at_provider()["media"] == "connected"
    line.say("Bye.", {"say": "Goodbye!", "call": "end_call"})
    expect(card).to_contain_text("Call ended")
    own_page.get_by_role("button", name="Close").click()
    expect(own_page.get_by_role("button", name="Call ")).to_be_focused()
