"""Twilio's webhooks of a call, and the handshake of its WebSocket."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import aiohttp
import pytest
from django.utils import timezone

from conversations.models import Call, Conversation
from jobs.models import Job
from offline_model.relay.signing import signature
from projects.models.attribute_catalogue import SETTING
from projects.records.attributes import set_attribute
from tests.conftest import Tenant
from tests.conversations.calls.relay.conftest import CALL_SID, CALLER, SID, TOKEN, Line, Served
from tools.models import Verification
from tools.services.verification.services import is_verified, record_verification

HEAD = '<?xml version="1.0" encoding="UTF-8"?>'


def stored(line: Line) -> tuple[int, int, int]:
    with line.tenant.tx():
        return Call.objects.count(), Conversation.objects.count(), Job.objects.filter(lane="call").count()


def test_a_call_is_answered_with_its_socket(line: Line) -> None:
    answer = line.webhook()
    call = line.call()
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/xml")
    assert answer.content.decode() == (
        f'{HEAD}<Response><Connect action="http://testserver/hooks/twilio/calls/next">'
        f'<ConversationRelay url="ws://testserver/hooks/twilio/relay/{SID}/{call.pk}" language="en-US" '
        'interruptible="any" dtmfDetection="true" debug="speaker-events tokens-played"/></Connect></Response>'
    )
    assert (call.state, call.caller, call.external_id) == ("ringing", CALLER, CALL_SID)
    assert stored(line) == (1, 1, 1)


def test_a_repeated_webhook_is_the_same_call(line: Line) -> None:
    assert len({line.webhook().content for _ in range(3)}) == 1
    assert stored(line) == (1, 1, 1)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"token": "another token"}, 401),
        ({"signed": "bm8="}, 401),
        ({"signed": "é"}, 401),
        ({"AccountSid": f"AC{'f' * 32}"}, 401),
        ({"AccountSid": "AC' or 1=1"}, 401),
        ({"To": "+390655509999"}, 422),
        ({"CallSid": "CA1"}, 422),
        ({"Long": "x" * 70_000}, 413),
    ],
    ids=["foreign", "forged", "no ascii", "another account", "no account", "another number", "malformed", "oversized"],
)
@pytest.mark.parametrize("path", ["/hooks/twilio/calls", "/hooks/twilio/calls/next", "/hooks/twilio/calls/dialed"])
def test_a_webhook_that_is_not_ours_stores_nothing(line: Line, path: str, changes: dict[str, Any], status: int) -> None:
    answer = line.webhook(path, **changes)
    assert (answer.status_code, stored(line)) == (status, (0, 0, 0))


def test_a_disconnected_channel_takes_no_call(line: Line) -> None:
    assert line.api.delete("/api/v1/channels/twilio").status_code == 204
    assert (line.webhook().status_code, stored(line)) == (401, (0, 0, 0))


def test_a_call_belongs_to_the_project_whose_token_signed_it(line: Line, stranger: Tenant) -> None:
    """Another organization that names the same account can't take it."""
    theirs = Line(stranger, line.loop)
    body = {"settings": {"account_sid": SID, "number": "+390655501111"}, "secret": "their own token"}
    assert (
        theirs.api.put("/api/v1/channels/twilio", json.dumps(body), content_type="application/json").status_code == 200
    )
    line.webhook()
    assert (stored(line)[0], stored(theirs)[0]) == (1, 0)


@pytest.mark.parametrize(
    "changes",
    [{"From": "+266696687"}, {"From": "anonymous"}, {"StirVerstat": "TN-Validation-Failed-A"}],
    ids=["withheld", "anonymous", "contradicted"],
)
@pytest.mark.requirement("F20")
def test_a_number_that_is_withheld_or_contradicted_is_nobodys(line: Line, changes: dict[str, str]) -> None:
    line.webhook(**changes)
    call = line.call()
    assert (call.caller, call.conversation.metadata["call"]["caller_phone"]) == ("", "")


def test_a_closed_business_is_busy(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conversations.calls.relay.webhooks.refusal_of", lambda *_, **__: "The business is closed.")
    answer = line.webhook()
    assert answer.content.decode() == f'{HEAD}<Response><Reject reason="busy"/></Response>'
    call = line.call()
    assert (call.state, call.reason) == ("rejected", "The business is closed.")
    assert line.webhook().content == answer.content


def test_a_closed_business_refers_to_its_fallback_number(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conversations.calls.relay.webhooks.refusal_of", lambda *_, **__: "The business is closed.")
    with line.tenant.tx():
        set_attribute(line.tenant.project, f"{SETTING}voice_fallback_number", "+390655501199")
    answer = line.webhook()
    assert ">+390655501199</Dial>" in answer.content.decode()
    assert line.call().state == "transferred"


def test_a_returning_caller_is_not_verified_again(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """For 60 minutes, a proof of an earlier call counts in the next one."""
    monkeypatch.setattr("tools.services.verification.services.verification_level", lambda project: "basic")
    line.webhook()
    first, project = line.call().conversation, line.tenant.project
    with line.tenant.tx():
        assert not is_verified(project, persona_id=first.persona_id)
        record_verification(project, persona_id=first.persona_id, conversation_id=first.pk, method="basic")
    line.webhook(CallSid=f"CA{'1' * 32}")
    with line.tenant.tx():
        again = Call.objects.select_related("conversation").get(external_id=f"CA{'1' * 32}").conversation
        assert (again.pk != first.pk, again.persona_id) == (True, first.persona_id)
        assert is_verified(project, persona_id=again.persona_id)
        Verification.objects.update(verified_at=timezone.now() - timedelta(minutes=61))
        assert not is_verified(project, persona_id=again.persona_id)


# The WebSocket


async def status_of(url: str, headers: dict[str, str], setup: dict[str, Any]) -> int | None:
    """The status of the handshake, or the code that the opened WebSocket was closed with."""
    async with aiohttp.ClientSession() as http:
        try:
            async with http.ws_connect(url, headers=headers) as socket:
                await socket.send_json(setup)
                async with asyncio.timeout(10):
                    await socket.receive()
                return socket.close_code
        except aiohttp.WSServerHandshakeError as error:
            return error.status


def test_a_handshake_that_twilio_did_not_sign_is_refused(line: Line, served: Served) -> None:
    line.dial()
    line.until_state("live")
    url = f"{line.base_url.replace('http', 'ws')}/hooks/twilio/relay/{SID}/{line.call().pk}"
    other = f"{line.base_url.replace('http', 'ws')}/hooks/twilio/relay/{SID}/{uuid4()}"
    setup = {"type": "setup", "callSid": CALL_SID}
    for address, headers in (
        (url, {}),
        (url, {"X-Twilio-Signature": signature(url, {}, token="another token")}),
        (url, {"X-Twilio-Signature": signature(other, {}, token=TOKEN)}),
        (other, {"X-Twilio-Signature": signature(other, {}, token=TOKEN)}),
        (f"{url}/x", {"X-Twilio-Signature": signature(f"{url}/x", {}, token=TOKEN)}),
    ):
        assert asyncio.run(status_of(address, headers, setup)) == 403


def test_a_socket_of_another_call_is_closed(line: Line, served: Served) -> None:
    """Its first message names the call that the address is for."""
    caller = line.dial()
    line.until_state("live")
    url = f"{line.base_url.replace('http', 'ws')}/hooks/twilio/relay/{SID}/{line.call().pk}"
    headers = {"X-Twilio-Signature": signature(url, {}, token=TOKEN)}
    setup = {"type": "setup", "callSid": "CA" + "0" * 32}
    assert asyncio.run(status_of(url, headers, setup)) == 1008
    assert (line.call().state, line.call().gaps) == ("live", 0)
    assert caller.state == "connected"


def test_other_websockets_are_refused(line: Line, served: Served) -> None:
    assert asyncio.run(status_of(f"{line.base_url.replace('http', 'ws')}/api/v1/calls", {}, {})) == 403


# The channel


def test_a_channel_shows_its_address_and_calls_and_never_its_secret(line: Line) -> None:
    line.webhook()
    answer = line.api.get("/api/v1/channels/twilio")
    body = answer.json()
    assert (body["state"], body["webhook"]) == ("connected", "http://testserver/hooks/twilio/calls")
    assert [one["external_id"] for one in body["last_deliveries"]] == [CALL_SID]
    assert TOKEN not in answer.content.decode()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"number": "555"}, "settings.number"),
        ({"account_sid": "x"}, "settings.account_sid"),
        ({"number": ""}, "settings"),
    ],
)
def test_a_wrong_setting_is_named(line: Line, changes: dict[str, Any], field: str) -> None:
    answer = line.connect(**changes)
    assert (answer.status_code, answer.json()["error"]["field"].removesuffix(".settings")) == (422, field)
