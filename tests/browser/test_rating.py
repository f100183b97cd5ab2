"""A customer rates the conversation once it is over: in the widget and on the portal."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from conversations.inbox.closing import close
from conversations.models import Channel, Conversation
from tests.browser.axe import everywhere, findings
from tests.browser.conftest import App, Complaints
from tests.browser.shop import Shop
from tests.browser.test_portal import own_page, write
from tests.browser.test_widget import launcher, log, placed, say, shop
from tests.conversations.widget.conftest import Placed

pytestmark = pytest.mark.browser

__all__ = ["own_page", "placed", "shop"]

QUESTION = "How was this conversation?"


def close_chat(app: App, channel: Channel = Channel.CHAT) -> None:
    with app.tenant.tx():
        close(Conversation.objects.get(channel=channel).pk, by=app.tenant.owner)


def rating(app: App, channel: Channel = Channel.CHAT) -> tuple[int | None, str]:
    with app.tenant.tx():
        row = Conversation.objects.get(channel=channel)
        return row.rating, row.rating_comment


def test_a_visitor_gives_stars_and_a_comment(page: Page, app: App, shop: Shop, placed: Placed) -> None:
    """As soon as a colleague closes the conversation, and by keyboard alone."""
    app.model.script("reply", text="We open at seven.")
    page.goto(shop.address(placed.key))
    launcher(page).click()
    say(page, "When do you open?")
    expect(log(page)).to_contain_text("We open at seven.")
    expect(log(page)).not_to_contain_text(QUESTION)
    close_chat(app)
    expect(log(page)).to_contain_text(QUESTION)
    page.get_by_role("button", name="4 of 5 stars").press("Enter")
    expect(log(page)).to_contain_text("Thanks for your rating.")
    assert rating(app) == (4, "")
    assert findings(page) == []
    page.get_by_label("Anything to add?").fill("Quick and kind.")
    page.get_by_label("Anything to add?").press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Anything to add?")).to_be_hidden()
    assert rating(app) == (4, "Quick and kind.")


def test_a_reload_shows_the_given_stars_and_a_message_ends_the_question(
    page: Page, app: App, shop: Shop, placed: Placed
) -> None:
    app.model.script("reply", text="We open at seven.")
    page.goto(shop.address(placed.key))
    launcher(page).click()
    say(page, "When do you open?")
    expect(log(page)).to_contain_text("We open at seven.")
    close_chat(app)
    page.get_by_role("button", name="2 of 5 stars").click()
    expect(log(page)).to_contain_text("Thanks for your rating.")
    page.reload()
    expect(page.get_by_role("button", name="2 of 5 stars")).to_have_attribute("aria-pressed", "true")
    app.model.script("reply", text="On Sundays, too.")
    say(page, "On Sundays, too?")
    expect(log(page)).to_contain_text("On Sundays, too.")
    expect(log(page)).not_to_contain_text(QUESTION)


def test_a_rating_that_was_not_sent_can_be_given_again(
    page: Page, app: App, shop: Shop, placed: Placed, complaints: Complaints
) -> None:
    complaints.provoke("net::ERR_FAILED")
    app.model.script("reply", text="We open at seven.")
    page.goto(shop.address(placed.key))
    launcher(page).click()
    say(page, "When do you open?")
    expect(log(page)).to_contain_text("We open at seven.")
    close_chat(app)
    page.route("**/rating", lambda route: route.abort(), times=1)
    page.get_by_role("button", name="5 of 5 stars").click()
    expect(log(page)).to_contain_text("Not sent: no connection. Try again.")
    assert rating(app) == (None, "")
    page.get_by_role("button", name="5 of 5 stars").click()
    expect(log(page)).to_contain_text("Thanks for your rating.")
    assert rating(app) == (5, "")


def test_a_customer_rates_the_chat_on_the_portal(own_page: Page, app: App) -> None:
    """Without a reload; the question goes when it is answered."""
    app.model.script("reply", text="We open at seven.")
    write(own_page, "When do you open?")
    expect(own_page.get_by_role("log")).to_contain_text("We open at seven.")
    close_chat(app, Channel.PORTAL)
    question = own_page.get_by_role("group", name=QUESTION)
    expect(question).to_be_visible()
    assert everywhere(own_page, within="#rate") == []
    question.get_by_title("4").click()
    own_page.get_by_label("Anything to add?").fill("Fine.")
    own_page.locator("#rate").get_by_role("button", name="Send").click()
    expect(own_page.get_by_role("log")).to_contain_text("Thanks for your rating.")
    expect(question).to_be_hidden()
    assert rating(app, Channel.PORTAL) == (4, "Fine.")
