"""Internal notes in the inbox, by keyboard, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from conversations.inbox.notes import add_note
from conversations.models import Mention, Note
from projects.models import Role
from tests.browser.axe import findings
from tests.browser.conftest import App, open_page
from tests.conftest import member_of
from tests.console.pages.conftest import talk
from tests.processes import until

pytestmark = pytest.mark.browser


def test_a_note_with_a_mention_is_written_by_keyboard_alone(page: Page, app: App) -> None:
    """While the agent has the conversation; it stands in the transcript, and isn't a message."""
    with app.tenant.tx():
        colleague = member_of(app.tenant, Role.OPERATOR)
    row = talk(app.tenant, "Hi", name="Guest", flag="look")
    open_page(page, app, f"inbox/{row.pk}")
    expect(page.locator("#chat .mg-msg.me")).to_be_visible()
    page.keyboard.press("n")
    page.keyboard.type(f"Call him, @{colleague.email[:4]}")
    expect(page.get_by_role("option", name=colleague.name)).to_have_attribute("aria-selected", "true")
    assert findings(page, within=".ib-conv") == []
    page.keyboard.press("Enter")
    expect(page.locator("#note-text")).to_have_value(f"Call him, @{colleague.name} ")
    page.keyboard.press("Enter")
    expect(page.locator("#chat .ib-internal")).to_contain_text(f"Call him, @{colleague.name}")
    expect(page.locator("#chat .ib-internal .ib-at")).to_have_text(f"@{colleague.name}")
    expect(page.locator("#note-text")).to_have_value("")
    expect(page.locator("#activity")).to_contain_text("wrote a note")
    with app.tenant.tx():
        assert [mention.user for mention in Mention.objects.select_related("user")] == [colleague]


def test_an_at_sign_alone_is_no_note(page: Page, app: App) -> None:
    row = talk(app.tenant, "Hi", name="Guest", flag="look")
    open_page(page, app, f"inbox/{row.pk}")
    page.keyboard.press("n")
    page.keyboard.type("@")
    page.keyboard.press("Enter")
    expect(page.locator("#refused")).to_be_visible()
    expect(page.locator("#note-text")).to_have_value("@")


def test_a_name_that_begins_with_another_mentions_only_its_own_member(page: Page, app: App) -> None:
    with app.tenant.tx():
        short, long = member_of(app.tenant, Role.OPERATOR), member_of(app.tenant, Role.ADMIN)
    for user, name in ((short, "Ann"), (long, "Ann Lee")):
        user.first_name, user.last_name = name.partition(" ")[::2]
        user.save()
    row = talk(app.tenant, "Hi", name="Guest", flag="look")
    open_page(page, app, f"inbox/{row.pk}")
    page.keyboard.press("n")
    page.locator("#note-text").fill("Ask @Ann Lee about it")
    page.keyboard.press("Enter")
    expect(page.locator("#chat .ib-internal .ib-at")).to_have_text("@Ann Lee")
    with app.tenant.tx():
        assert [mention.user for mention in Mention.objects.select_related("user")] == [long]


def test_a_note_being_typed_survives_a_reload_and_is_no_answer(page: Page, app: App) -> None:
    row = talk(app.tenant, "Hi", name="Guest", flag="look")
    open_page(page, app, f"inbox/{row.pk}")
    page.keyboard.press("t")
    expect(page.locator("#say")).to_be_focused()
    page.get_by_role("button", name="Note", exact=False).first.click()
    page.locator("#note-text").fill("A regular")
    page.reload()
    expect(page.locator("#note-text")).to_have_value("A regular")
    expect(page.locator("#say")).to_be_hidden()
    page.locator("#modes").get_by_role("button", name="Reply").click()
    expect(page.locator("#say")).to_be_focused()
    expect(page.locator("#note")).to_be_hidden()


def test_a_takeover_that_comes_late_leaves_the_note_that_is_typed(page: Page, app: App) -> None:
    """The letters that follow would be in the customer's answer."""
    row = talk(app.tenant, "Hi", name="Guest", flag="look")
    open_page(page, app, f"inbox/{row.pk}")
    held: list[Route] = []
    page.route("**/take-over", lambda route: held.append(route))
    page.keyboard.press("t")
    page.locator("#modes").get_by_role("button", name="Note").click()
    page.locator("#note-text").fill("A regular")
    until(lambda: page.wait_for_timeout(50) or held)
    held[0].continue_()
    expect(page.locator("#take")).to_contain_text("talking to Guest")
    page.keyboard.type(" guest")
    expect(page.locator("#note-text")).to_have_value("A regular guest")
    expect(page.locator("#say")).to_be_hidden()


def test_a_colleagues_note_appears_without_a_reload(page: Page, app: App) -> None:
    row = talk(app.tenant, "Hi", name="Guest", flag="look")
    open_page(page, app, f"inbox/{row.pk}")
    expect(page.locator("#chat .mg-msg.me")).to_be_visible()
    with app.tenant.tx():
        colleague = member_of(app.tenant, Role.OPERATOR)
        add_note(row.pk, "I know him", by=colleague, mentioned=(app.tenant.owner,))
    expect(page.locator("#chat .ib-internal")).to_contain_text("I know him", timeout=15_000)
    expect(page.locator("#mentioned")).to_contain_text("mentioned you in a note")
    page.get_by_role("button", name="Mark as read").click()
    expect(page.locator("#mentioned")).to_be_empty()

    def is_read() -> bool:
        with app.tenant.tx():
            return not Mention.objects.filter(read_at=None).exists() and Note.objects.exists()

    until(is_read, what="the mention's reading")
