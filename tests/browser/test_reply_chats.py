"""The chat that an answer goes to, and templates where free text isn't delivered, in a real browser."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from conversations.handover.operators import take_over
from conversations.models import Channel, Chat, Conversation, Message, MessageRole
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source
from tests.browser.axe import findings
from tests.browser.conftest import App, open_page
from tests.console.pages.conftest import talk

pytestmark = pytest.mark.browser

NUMBER, PHONE_ID = "+393331234567", "106540352242922"
TEMPLATES = [
    {"name": "order", "text": "Order {{1}} is ready.", "variables": ["1"], "problem": ""},
    {"name": "old", "text": "Hello.", "variables": [], "problem": "Meta has paused it."},
]


def chats(app: App, *, hours_ago: int = 0) -> tuple[Conversation, Conversation]:
    """A customer's chats by text and by WhatsApp, who wrote there last, so many hours ago. The owner has the first."""
    now, project = timezone.now(), app.tenant.project
    texts = talk(app.tenant, "Is the terrace open?", channel=Channel.SMS, guest="anna", at=now - timedelta(days=4))
    other = talk(app.tenant, "Hello?", channel=Channel.WHATSAPP, guest="anna", at=now - timedelta(hours=hours_ago + 1))
    secret = json.dumps({"access_token": "a", "app_secret": "b"})
    with app.tenant.tx():
        # Of another account than the chats, so that nothing is sent.
        twilio = {"account_sid": "AC" + "1" * 32, "sender": "+14155550100"}
        connect_source(project, KINDS["twilio"], SourceEdit(twilio, "token"), by=None)
        connect_source(project, KINDS["whatsapp"], SourceEdit({"phone_number_id": PHONE_ID}, secret), by=None)
        for row, kind in ((texts, "twilio"), (other, "whatsapp")):
            Chat.objects.create(
                project=project,
                kind=kind,
                account="another",
                external_id=NUMBER,
                conversation=row,
                heard_at=now - timedelta(hours=hours_ago),
            )
        take_over(texts.pk, by=app.tenant.owner)
    return texts, other


def answers(app: App, conversation: Conversation) -> list[str]:
    with app.tenant.tx():
        rows = Message.objects.filter(conversation=conversation, role=MessageRole.OPERATOR)
        return list(rows.values_list("content", flat=True))


def test_an_answer_goes_to_the_chat_used_last(page: Page, app: App) -> None:
    texts, other = chats(app)
    open_page(page, app, f"inbox/{texts.pk}")
    choice = page.get_by_label("Reply on")
    expect(choice).to_have_value(str(other.pk))
    assert findings(page, within=".ib-conv") == []
    page.locator("#say").fill("Yes, until eleven.")
    page.locator("#say").press("Enter")
    page.wait_for_url(re.compile(str(other.pk)))
    expect(page.locator("#chat")).to_contain_text("Yes, until eleven.")
    assert (answers(app, texts), answers(app, other)) == ([], ["Yes, until eleven."])


def test_staff_choose_another_chat(page: Page, app: App) -> None:
    texts, other = chats(app)
    open_page(page, app, f"inbox/{texts.pk}")
    page.get_by_label("Reply on").select_option(label="SMS")
    page.locator("#say").fill("Yes, until eleven.")
    page.locator("#say").press("Enter")
    expect(page.locator("#chat")).to_contain_text("Yes, until eleven.")
    assert (answers(app, texts), answers(app, other)) == (["Yes, until eleven."], [])


def test_a_closed_window_takes_a_template_only(page: Page, app: App) -> None:
    _, other = chats(app, hours_ago=48)
    with app.tenant.tx():
        take_over(other.pk, by=app.tenant.owner)
    sent = []

    def meta(route: Route) -> None:
        if route.request.method == "GET":
            results = [{"language": "en", "files": {}, **one} for one in TEMPLATES]
            route.fulfill(json={"is_window_open": False, "results": results})
            return
        sent.append(route.request.post_data_json)
        message = {
            "id": "m",
            "seq": 9,
            "role": "operator",
            "author": "O",
            "content": "Order A17 is ready.",
            "blocks": [],
        }
        route.fulfill(
            status=201, json={**message, "attachments": [], "turn": None, "created_at": "2026-11-27T12:00:00Z"}
        )

    page.route("**/templates", meta)
    open_page(page, app, f"inbox/{other.pk}")
    page.locator("#say").fill("Your order is ready.")
    page.locator("#say").press("Enter")
    expect(page.locator("#refused")).to_contain_text("24 hours")
    page.get_by_role("button", name="Choose a template").click()
    page.get_by_label("Value for 1").fill("A17")
    assert findings(page, within=".ib-conv") == []
    page.get_by_label("Template", exact=True).select_option(label="old (English)")
    expect(page.get_by_role("button", name="Send template")).to_be_disabled()
    page.get_by_label("Template", exact=True).select_option(label="order (English)")
    page.get_by_label("Value for 1").fill("A17")
    page.get_by_label("Value for 1").press("Enter")
    expect(page.locator("#chat")).to_contain_text("Order A17 is ready.")
    assert sent == [{"name": "order", "language": "en", "variables": {"1": "A17"}}]
    assert (answers(app, other), page.locator("#say").input_value()) == ([], "Your order is ready.")
