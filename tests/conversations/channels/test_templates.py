"""WhatsApp's templates: listed from the account, and sent where free text isn't delivered any more."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from django.test import Client

from conversations.channels.delivery_context import WINDOW_CLOSED
from conversations.channels.templates import check_values, gaps_of
from conversations.channels.whatsapp_templates import MetaTemplate
from conversations.handover.operators import answer, take_over
from conversations.models import Attachment, Chat, Receipt
from tests.conftest import member_of
from tests.conversations.channels.conftest import Bot
from tests.conversations.channels.files import PDF, PNG
from tests.conversations.channels.graph_server import ACCOUNT, ANNA, Line, text
from tests.processes import ScriptedModel

pytestmark = pytest.mark.standing_worker

BUTTONS = [
    {"type": "QUICK_REPLY", "text": "Thanks"},
    {"type": "URL", "text": "Track it", "url": "https://shop.example/track/{{1}}"},
]
PAUSED = (400, {"error": {"code": 132015, "message": "Template is Paused"}})


def template(name: str, body: str = "Your table is ready.", **changes: Any) -> dict[str, Any]:
    components = [{"type": "BODY", "text": body}, {"type": "FOOTER", "text": "Reply STOP to end."}]
    return {"name": name, "language": "en", "status": "APPROVED", "components": components, **changes}


class Desk:
    """A member who has the conversation with a customer who wrote two days ago."""

    def __init__(self, line: Line) -> None:
        line.connect(business_account_id=ACCOUNT)
        line.write(text(at=int(time.time()) - 2 * 86_400))
        [chat] = line.rows(Chat)
        self.line, self.conversation, self.member = line, chat.conversation_id, member_of(line.tenant, "operator")
        with line.tenant.tx():
            take_over(chat.conversation_id, by=self.member)
        self.browser = Client()
        self.browser.force_login(self.member)
        with line.tenant.tx():
            # The notice of the takeover, which isn't delivered either.
            Receipt.objects.all().delete()

    @property
    def url(self) -> str:
        return f"/api/v1/conversations/{self.conversation}/templates"

    def listed(self) -> Any:
        return self.line.api.get(self.url)

    def upload(self, content: bytes) -> str:
        headers = {"X-Project": self.line.tenant.project.slug}
        address = f"/api/v1/conversations/{self.conversation}/attachments?name=menu"
        return str(self.browser.post(address, content, "application/octet-stream", headers=headers).json()["id"])

    def send(self, name: str = "ready", *, key: str = "", **variables: str) -> Any:
        body = json.dumps({"name": name, "variables": variables})
        headers = {"X-Project": self.line.tenant.project.slug, **({"Idempotency-Key": key} if key else {})}
        return self.browser.post(self.url, body, content_type="application/json", headers=headers)


@pytest.fixture
def desk(line: Line) -> Desk:
    line.graph.templates = [
        template("ready"),
        template("order", "Order {{1}} for {{2}}, {{1}}."),
        template("paused", status="PAUSED"),
        template("named", "Hello {{first_name}}."),
        template("place", components=[{"type": "HEADER", "format": "LOCATION"}, {"type": "BODY", "text": "Here."}]),
        template("picture", components=[{"type": "HEADER", "format": "IMAGE"}, {"type": "BODY", "text": "Look."}]),
        template(
            "track", components=[{"type": "BODY", "text": "On its way."}, {"type": "BUTTONS", "buttons": BUTTONS}]
        ),
    ]
    return Desk(line)


def test_the_accounts_templates_are_listed(desk: Desk) -> None:
    """From all pages, those that can be sent first."""
    answer = desk.listed()
    assert (answer.status_code, answer.json()["is_window_open"]) == (200, False)
    rows = {one["name"]: one for one in answer.json()["results"]}
    assert list(rows) == ["named", "order", "picture", "ready", "track", "paused", "place"]
    assert rows["order"]["variables"] == ["1", "2"]
    assert rows["ready"]["text"] == "Your table is ready.\n\nReply STOP to end."
    assert [bool(rows[name]["problem"]) for name in ("ready", "paused", "place")] == [False, True, True]
    assert (rows["picture"]["variables"], rows["picture"]["files"]) == (["header"], {"header": "image"})
    assert rows["track"]["variables"] == ["button.2"]


def test_a_template_is_sent_after_the_window(desk: Desk, worker: object, model: ScriptedModel) -> None:
    answer = desk.send("order", **{"1": "A17", "2": "Anna"})
    assert (answer.status_code, answer.json()["content"]) == (201, "Order A17 for Anna, A17.\n\nReply STOP to end.")
    desk.line.until_state("sent")
    [(_, _, body)] = desk.line.graph.calls
    assert (body["to"], body["type"]) == (ANNA, "template")
    [component] = body["template"]["components"]
    assert [one["text"] for one in component["parameters"]] == ["A17", "Anna"]


def test_a_repeated_idempotency_key_sends_one_template(desk: Desk) -> None:
    first = desk.send("order", key="a", **{"1": "A17", "2": "Anna"})
    # A repeat asks Meta for nothing.
    desk.line.graph.templates = []
    again = desk.send("order", key="a", **{"1": "A17", "2": "Anna"})
    assert (again.status_code, again.json(), again["Idempotent-Replayed"]) == (201, first.json(), "true")
    other = desk.send("ready", key="a")
    assert (other.status_code, other.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert len(desk.line.rows(Receipt)) == 1


def test_a_named_gap_is_sent_by_its_name(desk: Desk, worker: object, model: ScriptedModel) -> None:
    desk.send("named", first_name="Anna")
    desk.line.until_state("sent")
    [(_, _, body)] = desk.line.graph.calls
    assert body["template"]["components"][0]["parameters"] == [
        {"type": "text", "parameter_name": "first_name", "text": "Anna"}
    ]


def test_a_picture_by_its_address_begins_a_template(desk: Desk, worker: object, model: ScriptedModel) -> None:
    answer = desk.send("picture", header="https://shop.example/menu.jpg")
    assert answer.json()["content"] == "https://shop.example/menu.jpg\n\nLook."
    desk.line.until_state("sent")
    [(_, _, body)] = desk.line.graph.calls
    link = {"link": "https://shop.example/menu.jpg"}
    assert body["template"]["components"] == [{"type": "header", "parameters": [{"type": "image", "image": link}]}]


def test_an_uploaded_picture_begins_a_template(desk: Desk, worker: object, model: ScriptedModel) -> None:
    answer = desk.send("picture", header=desk.upload(PNG))
    assert [one["name"] for one in answer.json()["attachments"]] == ["menu.png"]
    desk.line.until_state("sent")
    [(_, _, upload), (_, _, body)] = desk.line.graph.calls
    assert (upload["file"][2], body["template"]["components"][0]["parameters"][0]["image"]) == (
        PNG,
        {"id": "media.out"},
    )


@pytest.mark.parametrize("header", ["menu.jpg", "ftp://shop.example/menu.jpg", "00000000-0000-0000-0000-000000000000"])
def test_a_header_that_is_no_file_is_refused(header: str, desk: Desk) -> None:
    answer = desk.send("picture", header=header)
    assert (answer.status_code, desk.line.rows(Receipt)) == (422, [])


def test_a_file_of_another_kind_is_refused_and_stays(desk: Desk) -> None:
    id = desk.upload(PDF)
    answer = desk.send("picture", header=id)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_template")
    assert [str(one.pk) for one in desk.line.rows(Attachment, message=None)] == [id]


def test_the_gap_of_a_buttons_address_is_filled(desk: Desk, worker: object, model: ScriptedModel) -> None:
    answer = desk.send("track", **{"button.2": "A17"})
    assert answer.json()["content"] == "On its way.\n\nTrack it: https://shop.example/track/A17"
    desk.line.until_state("sent")
    [(_, _, body)] = desk.line.graph.calls
    button = {"type": "button", "sub_type": "url", "index": "1", "parameters": [{"type": "text", "text": "A17"}]}
    assert body["template"]["components"] == [button]


def test_a_template_that_meta_paused_meanwhile_says_so(desk: Desk, worker: object, model: ScriptedModel) -> None:
    desk.line.graph.faults = [PAUSED]
    assert desk.send().status_code == 201
    [receipt] = desk.line.until_state("failed")
    assert receipt.reason == "Meta has paused the template. (Meta 132015)"


@pytest.mark.parametrize(
    ("name", "variables", "field"),
    [("paused", {}, "variables"), ("unknown", {}, "name"), ("order", {"1": "A17"}, "variables")],
    ids=["paused", "unknown", "incomplete"],
)
def test_a_template_that_cannot_be_sent_is_refused(
    desk: Desk, name: str, variables: dict[str, str], field: str
) -> None:
    answer = desk.send(name, **variables)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)
    assert desk.line.rows(Receipt) == []


def test_free_text_is_never_sent_after_the_window(desk: Desk, worker: object, model: ScriptedModel) -> None:
    with desk.line.tenant.tx():
        answer(desk.conversation, "Hello?", by=desk.member)
    [receipt] = desk.line.until_state("failed")
    assert (receipt.reason, desk.line.graph.calls) == (WINDOW_CLOSED, [])


def test_the_composer_says_why_and_offers_a_template(desk: Desk) -> None:
    page = desk.browser.get(f"/p/{desk.line.tenant.project.slug}/inbox/{desk.conversation}").content.decode()
    assert "data-templates" in page
    desk.line.write(text(id="wamid.2"))
    page = desk.browser.get(f"/p/{desk.line.tenant.project.slug}/inbox/{desk.conversation}").content.decode()
    assert "data-templates" not in page


def test_without_the_accounts_id_the_way_is_named(desk: Desk) -> None:
    desk.line.connect()
    answer = desk.listed()
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "templates_unavailable")
    assert "business account ID" in answer.json()["error"]["message"]


def test_another_messenger_has_no_templates(bot: Bot) -> None:
    bot.write()
    answer = bot.api.get(f"/api/v1/conversations/{bot.chat().conversation_id}/templates")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_whatsapp_chat")


@pytest.mark.parametrize("value", ["two\nlines", "a    b"])
def test_a_value_that_meta_refuses_is_named(value: str) -> None:
    found = MetaTemplate("order", "en", texts=[gaps_of("Order {{1}}.")], files={}, problem="")
    assert (check_values(found, {"1": value}) != "", check_values(found, {"1": "A17"})) == (True, "")
