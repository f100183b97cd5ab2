"""WhatsApp's templates over Twilio: its Content API, in the same list and form."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conversations.channels.delivery_context import WINDOW_CLOSED
from conversations.handover.operators import answer, take_over
from conversations.models import Chat, Receipt
from tests.conftest import member_of
from tests.conversations.channels.files import PNG
from tests.conversations.channels.twilio_number import ANNA, Number
from tests.processes import ScriptedModel

pytestmark = pytest.mark.standing_worker

SIDS = [f"HX{number:032x}" for number in range(9)]


def content(number: int, name: str, *, status: str = "approved", **types: Any) -> dict[str, Any]:
    """A content as the Content API lists it."""
    return {
        "sid": SIDS[number],
        "friendly_name": name,
        "language": "en",
        "variables": {"1": "Anna", "2": "https://shop.example/menu.pdf"},
        "types": types.get("types", {"twilio/text": {"body": "Order {{1}} is ready."}}),
        "approval_requests": {"status": status, "name": name, "category": "UTILITY"},
    }


MEDIA = {"twilio/media": {"body": "Hello {{1}}.", "media": ["{{2}}"]}}
ACTIONS = [{"type": "URL", "title": "Track it", "url": "https://shop.example/{{1}}"}]
CALL_TO_ACTION = {
    "twilio/text": {"body": "On its way."},
    "twilio/call-to-action": {"body": "Sent.", "actions": ACTIONS},
}


class Desk:
    """A member who has the conversation with a customer who wrote on WhatsApp two days ago."""

    def __init__(self, number: Number) -> None:
        fields = number.text(From=f"whatsapp:{ANNA}", To="whatsapp:+14155550100")
        assert number.post("/hooks/twilio/messages", fields).status_code == 200
        [chat] = number.rows(Chat)
        self.number, self.conversation, self.member = number, chat.conversation_id, member_of(number.tenant, "operator")
        with number.tenant.tx():
            Chat.objects.update(heard_at=timezone.now() - timedelta(days=2))
            take_over(chat.conversation_id, by=self.member)
            Receipt.objects.all().delete()
        self.browser = Client(headers={"X-Project": number.tenant.project.slug})
        self.browser.force_login(self.member)

    @property
    def url(self) -> str:
        return f"/api/v1/conversations/{self.conversation}/templates"

    def listed(self) -> dict[str, Any]:
        answer = self.browser.get(self.url)
        assert answer.status_code == 200, answer.content
        return {one["name"]: one for one in answer.json()["results"]}

    def send(self, name: str, **variables: str) -> Any:
        return self.browser.post(self.url, {"name": name, "variables": variables}, content_type="application/json")

    def sent(self) -> dict[str, str]:
        [form] = [call.form for call in self.number.server.script.calls if call.method == "POST"]
        return form


@pytest.fixture
def desk(number: Number) -> Desk:
    number.server.script.contents = [
        content(0, "ready"),
        content(1, "menu", types=MEDIA),
        content(2, "track", types=CALL_TO_ACTION),
        content(3, "new", status="unsubmitted"),
    ]
    return Desk(number)


def test_the_accounts_contents_are_listed(desk: Desk) -> None:
    """From all pages, those that can be sent first."""
    rows = desk.listed()
    assert list(rows) == ["menu", "ready", "track", "new"]
    assert (rows["ready"]["variables"], rows["ready"]["text"]) == (["1"], "Order {{1}} is ready.")
    assert (rows["menu"]["variables"], rows["menu"]["files"]) == (["2", "1"], {"2": "document"})
    assert rows["track"]["text"] == "Sent.\n\nTrack it: https://shop.example/{{1}}"
    assert [bool(rows[name]["problem"]) for name in ("ready", "new")] == [False, True]


def test_an_account_without_approvals_lists_its_contents(desk: Desk) -> None:
    desk.number.server.script.content_lists = ("/v1/Content",)
    assert list(desk.listed()) == ["menu", "new", "ready", "track"]


def test_a_content_is_sent_by_its_sid(desk: Desk, worker: object, model: ScriptedModel) -> None:
    answer = desk.send("ready", **{"1": "A17"})
    assert (answer.status_code, answer.json()["content"]) == (201, "Order A17 is ready.")
    desk.number.until_state("sent")
    form = desk.sent()
    assert (form["To"], form["ContentSid"], json.loads(form["ContentVariables"])) == (
        f"whatsapp:{ANNA}",
        SIDS[0],
        {"1": "A17"},
    )
    assert "Body" not in form


def test_a_file_is_given_out_by_a_signed_address(desk: Desk, worker: object, model: ScriptedModel) -> None:
    upload = f"/api/v1/conversations/{desk.conversation}/attachments?name=menu"
    refused = desk.browser.post(upload, PNG, "application/octet-stream").json()["id"]
    assert desk.send("menu", **{"1": "Anna", "2": refused}).status_code == 422
    file = desk.browser.post(upload, b"%PDF-1.7\n", "application/octet-stream").json()["id"]
    assert desk.send("menu", **{"1": "Anna", "2": file}).status_code == 201
    desk.number.until_state("sent")
    url = json.loads(desk.sent()["ContentVariables"])["2"]
    assert Client().get("/files/" + url.rpartition("/")[2]).content == b"%PDF-1.7\n"


def test_free_text_is_never_sent_after_the_window(desk: Desk, worker: object, model: ScriptedModel) -> None:
    with desk.number.tenant.tx():
        answer(desk.conversation, "Hello?", by=desk.member)
    assert desk.number.until_state("failed").reason == WINDOW_CLOSED


def test_a_text_has_no_templates(number: Number) -> None:
    number.post("/hooks/twilio/messages", number.text())
    [chat] = number.rows(Chat)
    answer = number.api.get(f"/api/v1/conversations/{chat.conversation_id}/templates")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_whatsapp_chat")


def test_a_twilio_that_is_out_says_so(desk: Desk) -> None:
    desk.number.server.script.cuts = True
    answer = desk.browser.get(desk.url)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "templates_unavailable")
