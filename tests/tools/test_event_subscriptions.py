"""The API of event subscriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from tests.api.conftest import error_of
from tests.conftest import Tenant
from tests.conversations.effects.target import Answers, Target, target_server
from tests.tools.examples import event
from tools.engine.events.service import MAX_SUBSCRIPTIONS
from tools.engine.events.subscribers import open_subscriber
from tools.engine.validation.warnings import NOBODY
from tools.models import EventSubscription

ALL = "/api/v1/event-subscriptions"
EVENT = "tell_kitchen"
URL = "https://example.com/events"


@pytest.fixture
def target(settings: Any) -> Iterator[Target]:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with target_server() as server:
        yield server


def send(api: Client, method: str, url: str, body: Any = None) -> Any:
    return getattr(api, method)(url, json.dumps(body or {}), content_type="application/json")


def subscribe(api: Client, **body: Any) -> Any:
    return send(api, "post", ALL, {"url": URL, "events": [EVENT], **body})


def one(api: Client, **body: Any) -> str:
    """The URL of a new subscription."""
    return f"{ALL}/{subscribe(api, **body).json()['id']}"


def test_a_subscription_is_created_with_its_secret(api: Client) -> None:
    answer = subscribe(api)
    assert answer.status_code == 201
    assert answer.json()["secret"].startswith("whsec_")
    assert (answer.json()["target"], answer.json()["events"], answer.json()["enabled"]) == ("endpoint", [EVENT], True)


def test_the_secret_is_shown_once_and_stored_encrypted(api: Client, tenant: Tenant) -> None:
    secret = subscribe(api).json()["secret"]
    assert secret not in api.get(ALL).content.decode()
    with tenant.tx():
        row = EventSubscription.objects.get()
        assert secret not in row.secrets
        assert open_subscriber(row).signing == [secret]


def test_a_client_of_the_stream_has_no_secret(api: Client) -> None:
    answer = subscribe(api, target="stream", url="").json()
    assert ("secret" in answer, answer["url"]) == (False, None)
    error = error_of(send(api, "post", f"{ALL}/{answer['id']}/secret"), status=409)
    assert error["code"] == "no_secret"


def test_a_subscription_is_replaced_and_keeps_its_secret(api: Client, tenant: Tenant) -> None:
    created = subscribe(api).json()
    changed = send(api, "put", f"{ALL}/{created['id']}", {"url": f"{URL}/2", "enabled": False}).json()
    assert (changed["url"], changed["events"], changed["enabled"]) == (f"{URL}/2", [], False)
    assert "secret" not in changed
    with tenant.tx():
        assert open_subscriber(EventSubscription.objects.get()).signing == [created["secret"]]


def test_a_subscription_is_deleted(api: Client) -> None:
    url = one(api)
    assert api.delete(url).status_code == 204
    assert (api.get(url).status_code, api.get(ALL).json()["results"]) == (404, [])


def test_a_rotated_secret_keeps_the_previous_one_for_a_day(api: Client, tenant: Tenant) -> None:
    created = subscribe(api).json()
    second = send(api, "post", f"{ALL}/{created['id']}/secret").json()["secret"]
    with tenant.tx():
        assert open_subscriber(EventSubscription.objects.get()).signing == [second, created["secret"]]


# Refusals


@pytest.mark.parametrize(
    ("body", "field", "status"),
    [
        ({"url": ""}, "url", 422),
        ({"url": "ftp://example.com"}, "url", 422),
        ({"url": "http://127.0.0.1/"}, "url", 422),
        ({"target": "stream"}, "url", 422),
        ({"target": "pigeon"}, "target", 400),
        ({"events": ["send_sms_tool"]}, "events", 422),
        ({"events": ["urgent_message"]}, "events", 422),
        ({"events": ["two words"]}, "events.0", 400),
        ({"secret": "whsec_mine"}, "secret", 400),
    ],
    ids=str,
)
def test_an_invalid_subscription_is_refused(body: dict[str, Any], field: str, status: int, api: Client) -> None:
    assert error_of(subscribe(api, **body), status=status)["field"] == field
    assert api.get(ALL).json()["results"] == []


def test_an_event_has_one_subscriber(api: Client) -> None:
    subscribe(api)
    assert error_of(subscribe(api, events=["other", EVENT]), status=409)["code"] == "event_taken"


def test_there_is_one_subscription_for_all_events(api: Client) -> None:
    subscribe(api, events=[])
    assert error_of(subscribe(api, events=[]), status=409)["code"] == "event_taken"
    assert subscribe(api).status_code == 201


def test_a_disabled_subscription_takes_no_event(api: Client) -> None:
    subscribe(api, enabled=False)
    assert subscribe(api).status_code == 201


def test_enabling_a_subscription_of_a_taken_event_is_a_conflict(api: Client) -> None:
    url = one(api, enabled=False)
    subscribe(api)
    assert error_of(send(api, "put", url, {"url": URL, "events": [EVENT]}), status=409)["code"] == "event_taken"


def test_the_number_of_subscriptions_is_limited(api: Client) -> None:
    for number in range(MAX_SUBSCRIPTIONS):
        subscribe(api, events=[f"event_{number}"])
    assert error_of(subscribe(api), status=409)["code"] == "too_many"


def test_a_stranger_sees_no_subscription(api: Client, stranger: Tenant) -> None:
    url = one(api)
    foreign = Client(headers=stranger.headers)
    assert [foreign.get(url).status_code, foreign.delete(url).status_code] == [404, 404]
    assert foreign.get(ALL).json()["results"] == []
    assert api.get(url).status_code == 200


# Test events


def test_a_test_event_is_signed_and_marked(api: Client, target: Target) -> None:
    url = one(api, url=target.url)
    answer = send(api, "post", f"{url}/test").json()
    assert answer == {"state": "acknowledged", "http_status": 200, "error": None}
    [heard] = target.log
    assert (heard.document["type"], heard.document["data"]["test"]) == (EVENT, True)
    assert heard.headers["webhook-signature"].startswith("v1,")


def test_a_refused_test_event_is_shown_with_its_reason(api: Client, target: Target) -> None:
    target.answers(Answers(401))
    url = one(api, url=target.url)
    answer = send(api, "post", f"{url}/test").json()
    assert (answer["state"], answer["http_status"]) == ("failed", 401)
    last = api.get(url).json()["last_delivery"]
    assert (last["event"], last["state"], last["error"]) == (EVENT, "failed", answer["error"])


def test_no_test_event_is_sent_to_the_stream(api: Client) -> None:
    url = one(api, target="stream", url="")
    assert send(api, "post", f"{url}/test").json()["state"] == "failed"


# Warnings


def check(api: Client, definition: dict[str, Any]) -> list[str]:
    body = {"name": EVENT, "text": json.dumps(definition)}
    return [warning["message"] for warning in send(api, "post", "/api/v1/tools/check", body).json()["warnings"]]


def test_a_tool_without_a_subscriber_is_saved_with_a_warning(api: Client) -> None:
    """`send_event` is also what a missing action means."""
    saved = send(api, "put", f"/api/v1/custom-tools/{EVENT}", event(action=None)).json()
    assert [warning["message"] for warning in saved["warnings"]] == [NOBODY]
    assert check(api, event()) == [NOBODY]


def test_a_tool_with_a_subscriber_has_no_warning(api: Client) -> None:
    subscribe(api)
    assert check(api, event()) == []


def test_a_tool_that_replaces_a_built_in_one_has_no_warning(api: Client) -> None:
    """Our own handler executes its event."""
    assert send(api, "put", "/api/v1/custom-tools/send_sms_tool", event()).json()["warnings"] == []
