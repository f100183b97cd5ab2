"""Calls from the customer's page: the same keeper holds them as those of the widget."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from conversations.models import Call, Conversation
from conversations.turns.services import start_conversation
from tests.calls_provider import Provider
from tests.conversations.calls.browsers import OFFER
from tests.conversations.calls.conftest import Line
from tests.conversations.widget.conftest import place_widget
from tests.processes import ForkServer, until
from tools.services.signed_links import PortalTarget, portal_token

FOREVER = 40_000


@pytest.fixture
def line(tenant: Any, calls_provider: Provider, settings: Any) -> Line:
    """A business that takes calls from browsers."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    line = Line(tenant, calls_provider)
    line.connect()
    place_widget(tenant, call_button="on")
    return line


def page_of(line: Line, name: str = "ada") -> str:
    """The address of a customer's page."""
    with line.tenant.tx():
        known = start_conversation(line.tenant.project, channel="chat", external_id=name, known={}, metadata={})
    return f"/c/{portal_token(PortalTarget(line.tenant.organization.pk, known.persona_id), until=FOREVER)}"


def post(path: str, body: Any, **headers: str) -> Any:
    return Client(headers=headers).post(path, json.dumps(body), content_type="application/json")


def call(page: str, **headers: str) -> Any:
    return post(f"{page}/calls", {"offer": OFFER}, **headers)


@pytest.mark.requirement("F15")
@pytest.mark.standing_worker
def test_a_customer_calls_from_their_page(line: Line, processes: ForkServer) -> None:
    """As themselves, and hangs up."""
    processes.standing_worker()
    page = page_of(line)
    path = f"{page}/calls/{call(page).json()['id']}"
    until(lambda: Client().get(path).json()["answer"], seconds=40, what="the answer")
    assert post(path, {"event": "connected"}).status_code == 200
    until(lambda: Client().get(path).json()["state"] == "live", seconds=40, what="the call")
    line.until_said(("agent", "Hello, how can I help you?"))
    post(path, {"event": "hung_up"})
    until(lambda: Client().get(path).json()["state"] == "ended", seconds=40, what="the end")
    with line.tenant.tx():
        made = Conversation.objects.get(channel="webcall")
        assert (made.persona.external_id, made.metadata) == ("ada", {"via": "portal"})


def test_a_repeated_request_is_the_same_call(line: Line) -> None:
    page = page_of(line)
    answers = [call(page, **{"Idempotency-Key": "one"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json()["id"] == answers[1].json()["id"]


def test_a_customer_is_in_one_call_at_a_time(line: Line) -> None:
    page = page_of(line)
    call(page)
    answer = call(page)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "call_active")
    with line.tenant.tx():
        assert Call.objects.count() == 1


def test_without_the_setting_there_is_no_button_and_no_call(line: Line) -> None:
    place_widget(line.tenant, call_button="off")
    page = page_of(line)
    assert 'id="call"' not in Client().get(page).content.decode()
    assert call(page).json()["error"]["code"] == "calls_off"


def test_the_button_is_on_the_page(line: Line) -> None:
    page = page_of(line)
    assert f'data-calls="{page}/calls"' in Client().get(page).content.decode()


@pytest.mark.parametrize("body", [{}, {"offer": 7}, {"offer": "hello"}, [], {"offer": f"{OFFER}{'x' * 30_000}"}])
def test_a_wrong_offer_stores_nothing(line: Line, body: Any) -> None:
    answer = post(f"{page_of(line)}/calls", body)
    assert answer.status_code in (400, 413, 422)
    assert answer.json()["error"]["message"]
    with line.tenant.tx():
        assert not Call.objects.exists()


def test_another_customers_call_is_not_found(line: Line) -> None:
    page, other = page_of(line), page_of(line, "bob")
    made = call(page).json()["id"]
    assert Client().get(f"{other}/calls/{made}").status_code == 404
    assert post(f"{other}/calls/{made}", {"event": "hung_up"}).status_code == 404
    assert Client().get(f"{other}/calls/{made}/events").status_code == 404


def test_an_unknown_event_is_named(line: Line) -> None:
    page = page_of(line)
    answer = post(f"{page}/calls/{call(page).json()['id']}", {"event": "exploded"})
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "event")


def test_calls_of_a_page_are_limited(line: Line) -> None:
    page = page_of(line)
    assert [call(page).status_code for _ in range(8)][-1] == 429
