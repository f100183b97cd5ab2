"""System events that a program sends to a conversation."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from conversations.context.turn_context import EFFECTS
from tests.api.conftest import error_of
from tests.conftest import Tenant
from tests.conversations.effects.conftest import Bench
from tests.conversations.effects.target import Target
from tests.conversations.effects.test_events import EVENT, event_tool, subscribe
from tests.tenancy.conftest import browser
from tools.engine.execution.event_delivery import NOBODY
from tools.models import Effect


def post(api: Client, bench: Bench, idn: str, **payload: Any) -> Any:
    url = f"/api/v1/conversations/{bench.conversation.pk}/events"
    return api.post(url, {"idn": idn, "payload": payload}, content_type="application/json")


def posted(bench: Bench, answer: Any) -> Effect:
    """The effect of a posted event, after its job."""
    assert answer.status_code == 202, answer.content
    with bench.tenant.tx():
        effect = Effect.objects.get(pk=answer.json()["effect"])
    bench.run()
    return bench.effect(effect)


def test_a_posted_event_is_delivered_to_its_subscriber(bench: Bench, target: Target, api: Client) -> None:
    subscribe(bench, target.url, events=("order_changed",))
    effect = posted(bench, post(api, bench, "order_changed", order=7))
    [heard] = target.log
    assert (heard.document["type"], heard.document["data"]["arguments"]) == ("order_changed", {"order": 7})
    assert (effect.state, effect.origin, effect.acknowledged_at is not None) == ("done", "event", True)


def test_a_posted_event_is_in_the_log_once(bench: Bench, target: Target, api: Client) -> None:
    subscribe(bench, target.url, events=("order_changed",))
    posted(bench, post(api, bench, "order_changed", order=7))
    assert bench.events("order_changed") == [{"order": 7, "connector": "system"}]


def test_the_same_event_twice_is_delivered_twice(bench: Bench, target: Target, api: Client) -> None:
    """Two events are no repeat of one another, unlike two promises."""
    subscribe(bench, target.url, events=("order_changed",))
    first, second = (posted(bench, post(api, bench, "order_changed", order=7)) for _ in range(2))
    assert (first.state, second.state) == ("done", "done")
    assert len({heard.headers["webhook-id"] for heard in target.log}) == 2


def test_an_event_with_an_idempotency_key_is_posted_once(bench: Bench, target: Target, api: Client) -> None:
    subscribe(bench, target.url, events=("order_changed",))
    url = f"/api/v1/conversations/{bench.conversation.pk}/events"
    for _ in range(2):
        answer = api.post(
            url, {"idn": "order_changed"}, content_type="application/json", headers={"Idempotency-Key": "7"}
        )
        assert answer.status_code == 202
    bench.run()
    assert len(target.log) == 1


def test_an_event_of_a_tool_is_sent_and_shown_as_failed_without_a_subscriber(bench: Bench, api: Client) -> None:
    event_tool(bench)
    effect = posted(bench, post(api, bench, EVENT))
    assert (effect.state, effect.error, effect.tool_origin) == ("failed", NOBODY, "custom")


def test_the_agent_is_not_told_of_a_posted_event(bench: Bench, target: Target, api: Client) -> None:
    """It has promised nothing."""
    event_tool(bench)
    posted(bench, post(api, bench, EVENT))
    assert bench.urgent() == []
    with bench.tenant.tx():
        assert EFFECTS(bench.conversation.pk) == []


@pytest.mark.parametrize(
    "idn", ["order_changed", "conversation_started", "broadcast_analyze_conversation", "send_sms_tool", "effect_done"]
)
def test_an_event_that_starts_nothing_is_refused(idn: str, bench: Bench, target: Target, api: Client) -> None:
    """The answer lists those that do. Nothing is logged."""
    subscribe(bench, target.url, events=("table_freed",))
    event_tool(bench)
    error = error_of(post(api, bench, idn), status=422)
    assert (error["code"], error["field"]) == ("unknown_event", "idn")
    for known in ("urgent_message", "convoagent_activate_waiting_mode", "user_message", "table_freed", EVENT):
        assert known in error["message"]
    assert bench.events(idn) == []


def test_our_own_events_are_refused_despite_a_subscription_for_all(bench: Bench, target: Target, api: Client) -> None:
    subscribe(bench, target.url, events=())
    assert post(api, bench, "broadcast_analyze_conversation").status_code == 422
    assert post(api, bench, "send_sms_tool").status_code == 422
    assert post(api, bench, "anything_else").status_code == 202


def test_the_event_of_a_disabled_tool_is_refused(bench: Bench, api: Client) -> None:
    event_tool(bench)
    api.patch(f"/api/v1/custom-tools/{EVENT}", {"enabled": False}, content_type="application/json")
    assert post(api, bench, EVENT).status_code == 422


def test_a_stranger_posts_no_event(bench: Bench, stranger: Tenant) -> None:
    assert post(Client(headers=stranger.headers), bench, "urgent_message").status_code == 404


@pytest.mark.requirement("T01")
def test_a_posted_user_message_starts_a_turn(bench: Bench, api: Client) -> None:
    turn = post(api, bench, "user_message", text="Do you have a table?").json()["turn"]
    assert turn["status"] == "queued"
    messages = api.get(f"/api/v1/conversations/{bench.conversation.pk}/messages").json()["results"]
    assert [(message["role"], message["content"]) for message in messages] == [("user", "Do you have a table?")]


@pytest.mark.parametrize("payload", [{}, {"text": ""}, {"text": 7}, {"text": "x" * 8_001}], ids=str)
def test_a_user_message_needs_a_text(payload: dict[str, Any], bench: Bench, api: Client) -> None:
    assert error_of(post(api, bench, "user_message", **payload), status=422)["field"] == "payload.text"


def test_a_member_posts_no_user_message_to_a_real_conversation(bench: Bench) -> None:
    signed_in = browser(bench.tenant.owner)
    signed_in.defaults["HTTP_X_PROJECT"] = bench.tenant.project.slug
    answer = post(signed_in, bench, "user_message", text="Hello")
    assert error_of(answer, status=403)["code"] == "not_a_test_conversation"
