"""The customer's page and the demo's shop in a real browser: what goes on is seen, and nobody is kept out."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from playwright.sync_api import Locator, Page, expect

from conversations.models import Conversation, Persona
from conversations.operators import answer, take_over
from conversations.services import start_conversation
from tests.browser.axe import findings
from tests.browser.conftest import DESK, PHONE, App, open_page
from tests.browser.talk import composer
from tests.browser.test_business import book_table
from tests.browser.test_widget import configure, launcher, log, say
from tools.models import Booking
from tools.portal_links import PortalPlace, make_token

pytestmark = pytest.mark.browser

PHONE_NUMBER = "+39 347 555 0142"


@pytest.fixture
def own_page(page: Page, app: App) -> Page:
    """The page of a customer who has called."""
    with app.tenant.tx():
        known = {"phone": PHONE_NUMBER}
        call = start_conversation(app.tenant.project, channel="phone", external_id="ada", known=known, metadata={})
    token = make_token(PortalPlace(app.tenant.organization.pk, call.persona_id), until=40_000)
    page.goto(f"{app.base_url}/c/{token}")
    return page


def write(page: Page, words: str) -> None:
    page.get_by_label("Your message").fill(words)
    page.get_by_label("Your message").press("Enter")


def everywhere(page: Page) -> list[str]:
    """What axe finds, light and dark, at a desk and on a phone."""
    found: list[str] = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += findings(page)
    page.set_viewport_size(PHONE)
    found += findings(page)
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    return found


def test_an_answer_that_is_being_written_is_seen_after_a_reload(own_page: Page, app: App) -> None:
    """D25, W09: somebody who comes in the middle of it sees that one comes, and then the answer once."""
    app.model.script("reply", fault="hang")
    said = own_page.get_by_role("log")
    write(own_page, "Do you have vegan dishes?")
    busy = said.locator('[data-role="agent"][aria-busy]')
    expect(busy).to_have_count(1)
    own_page.reload()
    expect(busy).to_have_count(1)
    app.model.script("reply", text="There are four, and all of them are good.")
    write(own_page, "Hello?")
    expect(said.locator('[data-role="agent"][data-id]')).to_have_text(
        "The agent:There are four, and all of them are good."
    )
    expect(busy).to_have_count(0)


def test_a_customer_proves_who_they_are_on_their_page(own_page: Page, app: App) -> None:
    """D14: with the form, by what is on file; what is theirs appears when the agent has found it right."""
    configure(app, caller_verification="basic")
    own_page.reload()
    bookings = own_page.get_by_role("heading", name="Your bookings", exact=True)
    expect(bookings).to_have_count(0)
    app.model.script("reply", tool_calls=[{"name": "verify_caller", "arguments": {"phone": PHONE_NUMBER}}])
    app.model.script("reply", text="Thank you, Ada.")
    own_page.get_by_label("Your phone number or e-mail address").fill(PHONE_NUMBER)
    own_page.get_by_role("button", name="Show them").click()
    expect(bookings).to_have_count(1)
    expect(own_page.get_by_role("log")).to_contain_text("Thank you, Ada.")


def stays_until_it_fits(page: Page, field: Locator, longest: int, sentence: str) -> None:
    """What is pasted stands there whole and isn't sent; it is said, and sent once it is shorter."""
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


def test_a_paste_that_is_too_long_for_the_customers_page_is_not_cut(own_page: Page, app: App) -> None:
    field = own_page.get_by_label("Your message")
    stays_until_it_fits(own_page, field, 4_000, "That is 4,001 characters; the limit is 4,000.")


def test_a_paste_that_is_too_long_for_the_playground_is_not_cut(page: Page, app: App) -> None:
    open_page(page, app, "playground")
    stays_until_it_fits(page, composer(page), 8_000, "That is 8,001 characters; the limit is 8,000.")


def test_the_button_for_a_person_works_without_a_script_of_ours(own_page: Page, app: App) -> None:
    """W03: it is a form of the page, which the browser sends by itself."""
    app.model.script("reply", tool_calls=[{"name": "escalate_to_human", "arguments": {"reason": "A complaint."}}])
    app.model.script("reply", text="A colleague can help.")
    write(own_page, "A person!")
    own_page.get_by_role("button", name="Connect me with a human").click()
    expect(own_page.get_by_role("status")).to_contain_text("A colleague was asked to take over")


def test_what_is_booked_in_the_chat_stands_beside_it_at_once(own_page: Page, app: App) -> None:
    """D25: without loading the page again; and a colleague's words are seen to be a person's."""
    expect(own_page.locator("#booked")).to_contain_text("Nothing is booked.")
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


def test_the_customers_page_keeps_nobody_out(own_page: Page, app: App) -> None:
    """With a chat; and with what it says to somebody of whom it isn't sure who they are (D14)."""
    app.model.script("reply", text="Good evening: https://example.com/menu.")
    write(own_page, "Hello")
    expect(own_page.get_by_role("log")).to_contain_text("Good evening")
    found = everywhere(own_page)
    configure(app, caller_verification="code")
    own_page.reload()
    expect(own_page.get_by_role("main")).to_contain_text("once it is sure that this is you")
    assert found + everywhere(own_page) == []


def test_the_demos_shop_shows_an_article_and_a_person_and_keeps_nobody_out(page: Page, app: App) -> None:
    """W03, W07: with the offline model's own answers, as whoever tries the product sees it."""
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
