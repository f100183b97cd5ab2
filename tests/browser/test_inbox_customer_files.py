"""Photos that customers send by messenger, as the inbox shows them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from playwright.sync_api import Page, expect

from conversations.models import Conversation
from tests.browser.axe import findings
from tests.browser.conftest import App, open_page
from tests.browser.test_inbox_files import picture
from tests.conversations.channels.conftest import Bot
from tests.conversations.channels.telegram_server import TelegramServer
from tests.processes import ScriptedModel

pytestmark = pytest.mark.browser


def connect(bot: Bot) -> None:
    """Connect the bot from another thread: the browser's has an event loop."""

    def run() -> None:
        try:
            bot.connect()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(run).result()


def test_a_photo_takes_the_place_of_its_name_once_it_is_fetched(
    page: Page, app: App, model: ScriptedModel, settings: Any
) -> None:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    model.script("reply", text="Yes, it is free at eight.")
    with TelegramServer() as server:
        bot = Bot(app.tenant, server)
        connect(bot)
        # The first try fails, so that the page is open before the photo is there.
        server.script.download_faults = [503]
        server.script.files["photo1"] = picture()
        bot.write("", photo=[{"file_id": "photo1", "width": 9}], caption="Is this table free on Friday?")
        with app.tenant.tx():
            row = Conversation.objects.get(channel="telegram")
        open_page(page, app, f"inbox/{row.pk}")
        said = page.locator("#chat .mg-msg.me").first
        expect(said).to_contain_text("Is this table free on Friday?")
        image = said.get_by_role("img", name="photo.jpg.png")
        expect(image).to_be_visible(timeout=15_000)
        expect(said).not_to_contain_text("[File:")
        expect(image).to_have_js_property("naturalWidth", 1)
        expect(page.locator("#chat")).to_contain_text("Yes, it is free at eight.")
        assert findings(page, within=".ib-conv") == []
