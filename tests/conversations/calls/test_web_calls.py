"""Calls from a browser: offer and answer pass through us, and the same keeper holds them. No audio does."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from conversations.models import Call, Conversation
from tests.conversations.calls.browsers import OFFER
from tests.conversations.calls.conftest import API_KEY, KITCHEN, Line
from tests.conversations.calls.test_keeper import close
from tests.conversations.widget.conftest import SHOP, Placed, Visitor, place_widget, refusal
from tests.processes import ForkServer, until


@pytest.fixture
def placed(line: Line) -> Placed:
    return place_widget(line.tenant, origins=(SHOP,), call_button="on")


@pytest.fixture
def visit(placed: Placed) -> Callable[[], Visitor]:
    def make() -> Visitor:
        visitor = Visitor(placed)
        assert visitor.open().status_code == 200
        return visitor

    return make


@pytest.fixture
def visitor(visit: Callable[[], Visitor]) -> Visitor:
    return visit()


@pytest.fixture
def worker(processes: ForkServer) -> None:
    processes.standing_worker()


def call(visitor: Visitor, **headers: str) -> Any:
    return visitor.ask("POST", "calls", {"offer": OFFER}, **headers)


def report(visitor: Visitor, call_id: str, event: str) -> Any:
    return visitor.ask("POST", f"calls/{call_id}", {"event": event})


def until_state(visitor: Visitor, call_id: str, *states: str) -> dict[str, Any]:
    def is_there() -> bool:
        return read(visitor, call_id)["state"] in states

    until(is_there, seconds=40, what=f"the state {states}, not {read(visitor, call_id)}")
    return read(visitor, call_id)


def read(visitor: Visitor, call_id: str) -> dict[str, Any]:
    answer = visitor.ask("GET", f"calls/{call_id}")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def start(visitor: Visitor) -> str:
    return str(call(visitor).json()["id"])


def answered(line: Line, visitor: Visitor, call_id: str) -> str:
    """The provider's id of a call, once its browser has the answer."""
    until(lambda: bool(read(visitor, call_id)["answer"]), seconds=40, what="the answer")
    return row(line, call_id).external_id


def connect(line: Line, visitor: Visitor) -> str:
    """A call whose browser is connected."""
    call_id = start(visitor)
    line.call_id = answered(line, visitor, call_id)
    assert report(visitor, call_id, "connected").status_code == 200
    until_state(visitor, call_id, "live")
    return call_id


def row(line: Line, call_id: str) -> Call:
    with line.tenant.tx():
        return Call.objects.select_related("conversation").get(pk=UUID(call_id))


def test_a_call_is_stored_before_the_provider_hears_of_it(line: Line, visitor: Visitor) -> None:
    """With its keeper's job; nothing uses the network."""
    answer = call(visitor)
    assert answer.status_code == 202
    stored = row(line, answer.json()["id"])
    assert (stored.state, stored.conversation.channel, stored.conversation.metadata) == (
        "ringing",
        "webcall",
        {"via": "widget"},
    )
    assert stored.offer == OFFER
    assert answer.json()["answer"] == ""


@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_the_browser_gets_the_providers_answer(line: Line, visitor: Visitor) -> None:
    """The session is the whole agent; it speaks once the audio is connected. The browser's offer is forgotten."""
    call_id = call(visitor).json()["id"]
    until(lambda: bool(read(visitor, call_id)["answer"]), seconds=40, what="the answer")
    stored = row(line, call_id)
    line.call_id = stored.external_id
    assert read(visitor, call_id)["answer"].startswith("v=0")
    assert stored.offer == ""
    assert "Nello" in line.at_provider()["session"]["instructions"]
    assert line.at_provider()["connections"] == 0
    report(visitor, call_id, "connected")
    until_state(visitor, call_id, "live")
    line.until_said(("agent", "Hello, how can I help you?"))


@pytest.mark.requirement("T01", "L04")
@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_a_web_call_is_a_conversation_like_any_other(line: Line, visitor: Visitor) -> None:
    call_id = connect(line, visitor)
    line.say("Have you a table on Friday?", {"say": "For how many?"})
    line.until_said(("user", "Have you a table on Friday?"), ("agent", "For how many?"))
    line.say("Bye.", {"say": "Goodbye!", "call": "end_call"})
    until_state(visitor, call_id, "ended")
    assert line.verbs() == ["create", "hangup"]
    assert read(visitor, call_id)["answer"] == ""


@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_the_visitor_hangs_up(line: Line, visitor: Visitor) -> None:
    call_id = connect(line, visitor)
    report(visitor, call_id, "hung_up")
    until_state(visitor, call_id, "ended")
    assert line.verbs() == ["create", "hangup"]
    assert report(visitor, call_id, "hung_up").status_code == 200


@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_a_network_that_blocks_the_audio_ends_the_call(line: Line, visitor: Visitor) -> None:
    """With a reason for staff."""
    call_id = call(visitor).json()["id"]
    until(lambda: bool(read(visitor, call_id)["answer"]), seconds=40, what="the answer")
    report(visitor, call_id, "no_media")
    until_state(visitor, call_id, "failed")
    assert "network" in row(line, call_id).reason


@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_a_refused_offer_fails_the_call(line: Line, visitor: Visitor) -> None:
    line.provider.door("faults", {"create": 403})
    call_id = call(visitor).json()["id"]
    until_state(visitor, call_id, "failed")
    assert "403" in row(line, call_id).reason


@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_a_failing_provider_is_asked_again(line: Line, visitor: Visitor) -> None:
    line.provider.door("faults", {"create": 503})
    connect(line, visitor)


@pytest.mark.requirement("L07", "N14")
@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_a_transfer_gives_the_browser_the_number(line: Line, visitor: Visitor) -> None:
    """A browser can't be put through."""
    call_id = connect(line, visitor)
    line.say("The kitchen.", {"say": "One moment.", "call": "transfer_call", "arguments": {"phone_number": KITCHEN}})
    assert until_state(visitor, call_id, "transferred")["number"] == KITCHEN
    assert line.verbs() == ["create", "hangup"]


def test_a_customer_is_in_one_call_at_a_time(line: Line, visitor: Visitor, visit: Callable[[], Visitor]) -> None:
    """The second tab says so, and stores nothing."""
    assert call(visitor).status_code == 202
    assert refusal(call(visitor), 409) == "call_active"
    assert call(visit()).status_code == 202
    with line.tenant.tx():
        assert Call.objects.count() == Conversation.objects.count() == 2


def test_a_repeated_request_is_the_same_call(line: Line, visitor: Visitor) -> None:
    first = call(visitor, **{"Idempotency-Key": "one"})
    again = call(visitor, **{"Idempotency-Key": "one"})
    assert first.json()["id"] == again.json()["id"]
    with line.tenant.tx():
        assert Call.objects.count() == 1


def test_the_setting_is_off_by_default(line: Line) -> None:
    visitor = Visitor(place_widget(line.tenant))
    assert visitor.open().json()["agent"]["calls"] is False
    assert refusal(call(visitor), 409) == "calls_off"


def test_the_button_needs_a_connected_provider(line: Line, visitor: Visitor) -> None:
    assert visitor.open().json()["agent"]["calls"] is True
    line.api.delete("/api/v1/channels/openai_sip")
    assert visitor.open().json()["agent"]["calls"] is False
    assert refusal(call(visitor), 409) == "calls_off"


@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_an_api_key_is_enough(line: Line, visitor: Visitor) -> None:
    """A webhook's signing secret is for calls by phone."""
    body = {"settings": {"base_url": f"{line.provider.url}/v1"}, "secret": {"api_key": API_KEY}}
    line.api.delete("/api/v1/channels/openai_sip")
    answer = line.api.put("/api/v1/channels/openai_sip", json.dumps(body), content_type="application/json")
    assert answer.status_code == 200, answer.content
    connect(line, visitor)


@pytest.mark.parametrize(
    "offer",
    [
        "hello",
        OFFER.replace("m=audio", "m=video"),
        f"{OFFER}m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n",
        f"{OFFER}{'a=x' * 5_000}",
    ],
    ids=["no SDP", "video", "a data channel", "too long"],
)
def test_an_offer_of_anything_but_audio_is_refused(line: Line, visitor: Visitor, offer: str) -> None:
    """A data channel would let the browser write to the model's session."""
    assert visitor.ask("POST", "calls", {"offer": offer}).status_code in (400, 413, 422)
    with line.tenant.tx():
        assert not Call.objects.exists()


def test_a_visitor_sees_only_their_own_call(line: Line, visitor: Visitor, visit: Callable[[], Visitor]) -> None:
    call_id = call(visitor).json()["id"]
    stranger = visit()
    assert stranger.ask("GET", f"calls/{call_id}").status_code == 404
    assert report(stranger, call_id, "hung_up").status_code == 404
    assert refusal(stranger.ask("GET", f"events?conversation={row(line, call_id).conversation_id}"), 404)


def test_calls_of_a_visitor_are_limited(line: Line, visitor: Visitor) -> None:
    codes = [call(visitor).status_code for _ in range(8)]
    assert codes[-1] == 429


@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_a_closed_business_takes_no_call(line: Line, visitor: Visitor) -> None:
    """Without a fallback number it is rejected, and the provider hears nothing."""
    close(line)
    call_id = call(visitor).json()["id"]
    until_state(visitor, call_id, "rejected")
    assert row(line, call_id).external_id.startswith("web:")
