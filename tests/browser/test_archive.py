"""An archived conversation in the inbox, in a real browser."""

from __future__ import annotations

from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from conversations.live.archive import archive_transcript
from conversations.live.event_log import lock_conversation
from conversations.models import Message
from tests.browser.conftest import App, open_page
from tests.browser.talk import converse
from tests.bypass_rls import bypass_rls

pytestmark = pytest.mark.browser

ASKED = ("A table for two, please.", "Is it quiet by the window?", "And is there marzipan?")


def archived(app: App) -> str:
    """A conversation whose transcript is archived. Gives its id."""
    conversation_id = converse(app, *ASKED)
    with app.tenant.tx():
        lock_conversation(UUID(conversation_id))
        archive_transcript(UUID(conversation_id))
        assert not Message.objects.filter(conversation_id=conversation_id, content=ASKED[0]).exists()
    bypass_rls("delete from conversations_event where conversation_id = %s", conversation_id)
    return conversation_id


def test_an_archived_conversation_is_shown_and_goes_on(page: Page, app: App) -> None:
    conversation_id = archived(app)
    open_page(page, app, f"inbox/{conversation_id}")
    chat = page.locator("#chat")
    for words in ASKED:
        expect(chat).to_contain_text(words)
    app.call(f"/conversations/{conversation_id}/messages", {"content": "Good evening again"})
    expect(chat).to_contain_text("Good evening again")
    page.reload()
    for words in (*ASKED, "Good evening again"):
        expect(chat).to_contain_text(words)


def test_the_search_goes_on_into_the_archive_by_itself(page: Page, app: App) -> None:
    archived(app)
    open_page(page, app, "inbox?q=marzipan")
    expect(page.locator("[data-row]")).to_contain_text(ASKED[2])
