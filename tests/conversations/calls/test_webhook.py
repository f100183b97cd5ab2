"""The webhook of a call that rings: verified, stored once, answered without network."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import pytest

from conversations.models import Call, Conversation, PersonaField
from conversations.models.persona import Strength
from conversations.turns.services import start_conversation
from jobs.models import Job
from offline_model.realtime.webhook import signed_headers
from tests.conftest import Tenant
from tests.conversations.calls.conftest import CALLER, SECRET, Line

OTHER_SECRET = f"whsec_{base64.b64encode(b'somebody elses secret').decode()}"


def stored(line: Line) -> tuple[int, int, int]:
    with line.tenant.tx():
        return Call.objects.count(), Conversation.objects.count(), Job.objects.filter(lane="call").count()


def test_a_call_is_stored_with_its_conversation_and_its_keeper(line: Line) -> None:
    answer = line.ring()
    assert answer.status_code == 200
    call = line.call()
    assert answer.json() == {"call": str(call.pk)}
    assert (call.state, call.caller, call.conversation.channel) == ("ringing", CALLER, "phone")
    assert stored(line) == (1, 1, 1)


def test_a_repeated_webhook_is_the_same_call(line: Line) -> None:
    """Delivered again, or sent again under another event id."""
    first = line.webhook()
    answers = [line.deliver(*first), line.deliver(*first), line.deliver(*line.webhook())]
    assert len({answer.content for answer in answers}) == 1
    assert stored(line) == (1, 1, 1)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"secret": OTHER_SECRET}, 401),
        ({"at": lambda: time.time() - 400}, 401),
        ({"at": lambda: time.time() + 400}, 401),
        ({"to": "+390655509999"}, 422),
    ],
    ids=["foreign", "stale", "from the future", "another number"],
)
def test_a_webhook_that_is_not_ours_stores_nothing(line: Line, changes: dict[str, Any], status: int) -> None:
    given = {name: value() if callable(value) else value for name, value in changes.items()}
    answer = line.deliver(*line.webhook(**given))
    assert (answer.status_code, stored(line)) == (status, (0, 0, 0))
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"type": "realtime.call.incoming"}', b"\xff\xfe"])
def test_an_unsigned_body_stores_nothing(line: Line, body: bytes) -> None:
    _, headers = line.webhook()
    assert line.deliver(body, headers).status_code == 401
    assert line.deliver(body, {}).status_code == 401
    assert stored(line) == (0, 0, 0)


def test_a_forged_body_under_a_true_signature_stores_nothing(line: Line) -> None:
    body, headers = line.webhook()
    assert line.deliver(body.replace(CALLER.encode(), b"+393339999999"), headers).status_code == 401
    assert stored(line) == (0, 0, 0)


@pytest.mark.parametrize(
    "data", [{}, 5, None, {"call_id": 5, "sip_headers": []}, {"call_id": "rtc_1", "sip_headers": [{}]}]
)
def test_a_signed_webhook_without_a_readable_call_stores_nothing(line: Line, data: Any) -> None:
    event = json.loads(line.webhook()[0])
    body = json.dumps({**event, "data": data}).encode()
    answer = line.deliver(body, signed_headers(body, secret=SECRET, event_id=event["id"]))
    assert (answer.status_code, stored(line)) == (422, (0, 0, 0))
    assert "data" in answer.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"{", b"[" * 60_000])
def test_a_signed_webhook_that_is_no_json_stores_nothing(line: Line, body: bytes) -> None:
    answer = line.deliver(body, signed_headers(body, secret=SECRET, event_id="evt_1"))
    assert (answer.status_code, stored(line)) == (401, (0, 0, 0))


def test_an_oversized_webhook_is_refused_before_it_is_verified(line: Line) -> None:
    body, headers = line.webhook(headers={"X-Long": "x" * 70_000})
    assert (line.deliver(body, headers).status_code, stored(line)) == (413, (0, 0, 0))


def test_only_a_post_is_a_webhook(line: Line) -> None:
    assert line.api.get("/hooks/openai/calls").status_code == 405


def test_a_disconnected_channel_takes_no_call(line: Line) -> None:
    assert line.api.delete("/api/v1/channels/openai_sip").status_code == 204
    assert (line.ring().status_code, stored(line)) == (401, (0, 0, 0))


def test_a_call_belongs_to_the_project_whose_secret_signed_it(line: Line, stranger: Tenant) -> None:
    """Another organization with the same number can't take it."""
    body = {"settings": {"number": "+390655501111"}, "secret": {"api_key": "sk-x", "webhook_secret": OTHER_SECRET}}
    theirs = Line(stranger, line.provider)
    assert (
        theirs.api.put("/api/v1/channels/openai_sip", json.dumps(body), content_type="application/json").status_code
        == 200
    )
    line.ring()
    assert (stored(line)[0], stored(theirs)[0]) == (1, 0)


# The caller


def test_a_known_customer_is_found_by_their_number(line: Line) -> None:
    with line.tenant.tx():
        known = start_conversation(
            line.tenant.project, channel="chat", external_id="anna", known={"phone": "+39 333 1234567"}, metadata={}
        )
    line.ring()
    assert line.call().conversation.persona_id == known.persona_id


@pytest.mark.parametrize(
    ("caller", "headers"),
    [("anonymous", {}), (CALLER, {"P-Asserted-Identity": "<sip:+393339999999@net.example.com>"})],
    ids=["withheld", "spoofed"],
)
@pytest.mark.requirement("F20")
def test_a_number_that_is_withheld_or_contradicted_is_nobodys(line: Line, caller: str, headers: dict[str, str]) -> None:
    """Whoever calls like that is a new customer, and no tool sees a number."""
    with line.tenant.tx():
        known = start_conversation(
            line.tenant.project, channel="chat", external_id="anna", known={"phone": CALLER}, metadata={}
        )
    line.ring(caller=caller, headers=headers)
    call = line.call()
    assert (call.caller, call.conversation.metadata["call"]["caller_phone"]) == ("", "")
    assert call.conversation.persona_id != known.persona_id


@pytest.mark.requirement("F20")
def test_a_callers_number_is_not_on_file(line: Line) -> None:
    """It can be forged. Only what the business gave verifies a caller."""
    line.ring()
    with line.tenant.tx():
        field = PersonaField.objects.get(persona=line.call().conversation.persona_id, key="phone")
    assert (field.value, field.strength == Strength.GIVEN) == (CALLER, False)


# The channel


def test_a_channel_shows_its_addresses_and_calls_and_never_its_secret(line: Line) -> None:
    line.connect(openai_project="proj_abc")
    line.ring()
    answer = line.api.get("/api/v1/channels/openai_sip")
    body = answer.json()
    assert (body["state"], body["address"]) == ("connected", "sip:proj_abc@sip.openai.com;transport=tls")
    assert body["webhook"].endswith("/hooks/openai/calls")
    assert [one["external_id"] for one in body["last_deliveries"]] == [line.call_id]
    assert SECRET not in answer.content.decode()
    assert "sk-key" not in answer.content.decode()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"secret": {"webhook_secret": SECRET}}, "secret"),
        ({"secret": "sk-x sk-y"}, "secret"),
        ({"secret": {"api_key": "sk-x", "webhook_secret": "whsec_eA==", "more": 1}}, "secret"),
        ({"settings": {"number": "555"}}, "settings.number"),
        ({"settings": {"base_url": "http://10.0.0.1/v1"}}, "settings.base_url"),
        ({"settings": {"nmber": "x"}}, "settings.nmber"),
    ],
)
def test_a_wrong_setting_is_named(line: Line, change: dict[str, Any], field: str) -> None:
    body = {"settings": {}, "secret": {"api_key": "sk-x", "webhook_secret": SECRET}, **change}
    answer = line.api.put("/api/v1/channels/openai_sip", json.dumps(body), content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)
    assert "sk-x" not in answer.content.decode()
