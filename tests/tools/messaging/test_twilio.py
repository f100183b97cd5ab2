"""Text messages through Twilio's API, against a server that responds as documented."""

from __future__ import annotations

from typing import Any

import pytest

from outbound.guard import Guard
from tests.processes import free_port
from tests.tools.messaging.conftest import KEY, twilio_over
from tests.tools.messaging.twilio_server import FROM, MESSAGE_SID, SID, TOKEN, TwilioServer, refusal, signed_in_as
from tools.engine.execution.outcome import Ending, Outcome
from tools.services.messaging.base import Sms

SMS = Sms(to="+393331234567", text="Martedì alle 20, in 4 & un seggiolone ✓")


async def send(api: TwilioServer, message: Sms = SMS, **changes: Any) -> Outcome:
    return await twilio_over(api.url, **changes).send(message, key=KEY)


async def test_the_request_is_as_documented(twilio_api: TwilioServer) -> None:
    await send(twilio_api)
    (call,) = twilio_api.script.calls
    assert (call.method, call.path) == ("POST", f"/2010-04-01/Accounts/{SID}/Messages.json")
    assert signed_in_as(call) == (SID, TOKEN)
    assert call.headers["content-type"] == "application/x-www-form-urlencoded"
    assert call.form == {"To": SMS.to, "From": FROM, "Body": SMS.text}


async def test_a_created_message_is_done(twilio_api: TwilioServer) -> None:
    outcome = await send(twilio_api)
    assert (outcome.ending, outcome.http_status, outcome.adapter) == (Ending.DONE, 201, "twilio")
    assert outcome.result == {"to": SMS.to, "text": SMS.text, "sid": MESSAGE_SID, "status": "queued"}
    assert SMS.text in outcome.told


async def test_a_messaging_service_can_send_instead_of_a_number(twilio_api: TwilioServer) -> None:
    service = "MG" + "0" * 32
    outcome = await send(twilio_api, sender=service)
    assert twilio_api.script.calls[0].form == {"To": SMS.to, "MessagingServiceSid": service, "Body": SMS.text}
    assert outcome.result["status"] == "accepted"


@pytest.mark.parametrize("name", ["MG Motors", "MGA"])
async def test_a_sender_name_that_begins_with_mg_is_not_a_messaging_service(
    twilio_api: TwilioServer, name: str
) -> None:
    await send(twilio_api, sender=name)
    assert twilio_api.script.calls[0].form["From"] == name


async def test_the_token_is_never_stored(twilio_api: TwilioServer) -> None:
    outcome = await send(twilio_api)
    basic = twilio_api.script.calls[0].headers["authorization"].removeprefix("Basic ")
    assert not [secret for secret in (TOKEN, basic) if secret in repr(outcome)]


@pytest.mark.requirement("F17")
async def test_a_rejected_sign_in_needs_reauth(twilio_api: TwilioServer) -> None:
    outcome = await send(twilio_api, token="wrong-canary")
    assert (outcome.ending, outcome.result) == (Ending.FAILED, {"needs_reauth": True})
    assert "wrong-canary" not in repr(outcome)


@pytest.mark.requirement("F17")
async def test_a_closed_account_is_a_rejected_sign_in(twilio_api: TwilioServer) -> None:
    """Twilio's code names the reason, whatever the status."""
    twilio_api.script.answer = refusal(403, 20003, "Permission Denied")
    assert (await send(twilio_api)).result == {"needs_reauth": True}


async def test_an_invalid_number_is_explained(twilio_api: TwilioServer) -> None:
    outcome = await send(twilio_api, Sms(to="123", text="Hello"))
    assert (outcome.ending, outcome.http_status) == (Ending.FAILED, 400)
    assert outcome.error == (
        "The text wasn't sent. The customer's number doesn't exist; ask for it again. (Twilio 21211)"
    )


async def test_an_unexpected_rejection_uses_twilios_own_message(twilio_api: TwilioServer) -> None:
    twilio_api.script.answer = refusal(400, 21999, "The moon is in the way.")
    assert (await send(twilio_api)).error == "The text wasn't sent. The moon is in the way. (Twilio 21999)"


@pytest.mark.parametrize(
    ("document", "ending"),
    [
        ({"sid": "SM\0", "status": "queued"}, Ending.UNKNOWN),
        ({"sid": "SM1", "status": ["queued"]}, Ending.DONE),
        ([1], Ending.UNKNOWN),
    ],
)
async def test_a_response_that_is_not_twilios_still_has_an_outcome(
    twilio_api: TwilioServer, document: Any, ending: Ending
) -> None:
    """It may be a proxy's. The ledger can store it, and an id that isn't one is no word of Twilio's."""
    twilio_api.script.answer = (201, document, {})
    outcome = await send(twilio_api)
    assert outcome.ending is ending
    assert "\0" not in outcome.excerpt + str(outcome.result)


JSON: dict[str, str] = {}


@pytest.mark.parametrize(
    ("status", "headers", "ending"),
    [
        (301, {"Location": "http://127.0.0.1/"}, Ending.FAILED),
        (400, JSON, Ending.FAILED),
        (403, JSON, Ending.FAILED),
        (404, JSON, Ending.FAILED),
        (408, JSON, Ending.UNKNOWN),
        (409, JSON, Ending.UNKNOWN),
        (425, JSON, Ending.UNKNOWN),
        (429, JSON, Ending.NOT_SENT),
        (429, {"Retry-After": "7"}, Ending.NOT_SENT),
        (500, JSON, Ending.UNKNOWN),
        (502, JSON, Ending.UNKNOWN),
        (503, JSON, Ending.UNKNOWN),
        (503, {"Retry-After": "7"}, Ending.NOT_SENT),
    ],
)
async def test_each_status_has_its_documented_outcome(
    twilio_api: TwilioServer, status: int, headers: dict[str, str], ending: Ending
) -> None:
    twilio_api.script.answer = (status, {"code": 20000, "message": "x", "status": status}, headers)
    outcome = await send(twilio_api)
    assert (outcome.ending, outcome.http_status) == (ending, status)
    assert len(twilio_api.script.calls) == 1


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7), ("Wed, 21 Oct 2020 07:28:00 GMT", 0), ("9" * 40, None), ("-1", None)]
)
async def test_retry_after_is_respected(twilio_api: TwilioServer, header: str, seconds: float | None) -> None:
    """Seconds or a date, if valid; otherwise our own delays apply."""
    twilio_api.script.answer = (429, refusal(429, 20429, "Too Many Requests")[1], {"Retry-After": header})
    assert (await send(twilio_api)).retry_after_seconds == seconds


async def test_a_disconnect_after_the_request_is_unknown(twilio_api: TwilioServer) -> None:
    """The message may have been sent, so it is not sent again."""
    twilio_api.script.cuts = True
    outcome = await send(twilio_api)
    assert (outcome.ending, len(twilio_api.script.calls)) == (Ending.UNKNOWN, 1)


async def test_a_refused_connection_sends_nothing() -> None:
    outcome = await twilio_over(f"http://127.0.0.1:{free_port()}").send(SMS, key=KEY)
    assert outcome.ending is Ending.NOT_SENT


async def test_a_private_address_is_never_connected(twilio_api: TwilioServer) -> None:
    outcome = await send(twilio_api, guard=Guard())
    assert (outcome.ending, twilio_api.script.calls) == (Ending.NOT_SENT, [])


@pytest.mark.parametrize(
    "body", ["<html>Sign in</html>", "", "[1]", "[" * 100_000, '"sid"', '{"status": "queued"}', '{"sid": 7}']
)
async def test_a_success_that_names_no_message_is_uncertain(twilio_api: TwilioServer, body: str) -> None:
    """A proxy's page is no word of Twilio's."""
    twilio_api.script.answer = (201, body, {})
    outcome = await send(twilio_api)
    assert outcome.ending is Ending.UNKNOWN
    assert len(outcome.excerpt) <= 8_000


@pytest.mark.parametrize(("status", "ending"), [(201, Ending.UNKNOWN), (400, Ending.FAILED), (500, Ending.UNKNOWN)])
async def test_an_unreadable_response_counts_by_its_status(
    twilio_api: TwilioServer, status: int, ending: Ending
) -> None:
    twilio_api.script.answer = (status, "\x1f\x8b", {"Content-Encoding": "gzip"})
    outcome = await send(twilio_api)
    assert (outcome.ending, outcome.http_status) == (ending, status)


async def test_the_response_is_stored_for_staff(twilio_api: TwilioServer) -> None:
    twilio_api.script.answer = refusal(400, 21999, "The moon is in the way.")
    assert "The moon is in the way." in (await send(twilio_api)).excerpt


@pytest.mark.parametrize("given_up", ["failed", "undelivered", "canceled"])
async def test_a_message_that_twilio_rejects_at_once_is_failed(twilio_api: TwilioServer, given_up: str) -> None:
    document = {"sid": MESSAGE_SID, "status": given_up, "error_code": 30007, "error_message": "Carrier violation"}
    twilio_api.script.answer = (201, document, {})
    outcome = await send(twilio_api)
    assert (outcome.ending, outcome.error) == (
        Ending.FAILED,
        "The text wasn't sent. Carrier violation (Twilio 30007)",
    )
