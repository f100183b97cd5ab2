"""Events of a tenant's own tools, delivered to their subscribers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest
from django.test import Client

from jobs.models import Job, State
from tests.conftest import Tenant
from tests.conversations.effects.conftest import Bench, webhook
from tests.conversations.effects.target import Answers, Heard, Target
from tests.crashes.invariants import settle
from tests.processes import ForkServer
from tools.engine.events.service import SubscriptionEdit, add_subscription, remove_subscription, rotate_secret
from tools.engine.execution.event_delivery import NOBODY
from tools.models import Effect, EventSubscription, Promise, SubscriptionTarget

EVENT = "tell_kitchen"


def subscribe(bench: Bench, url: str = "", *, events: tuple[str, ...] = (EVENT,)) -> str:
    """Subscribe an endpoint, or the stream without a URL. Return the secret."""
    target = SubscriptionTarget.ENDPOINT if url else SubscriptionTarget.STREAM
    with bench.tenant.tx():
        saved = add_subscription(bench.tenant.project, SubscriptionEdit(target=target, url=url, events=events))
    return saved.secret or ""


def event_tool(bench: Bench, **more: Any) -> None:
    bench.tool(EVENT, {**webhook("https://example.com/"), "action": {"type": "send_event"}, **more})


@pytest.fixture
def kitchen(bench: Bench) -> Bench:
    """A conversation of a project whose own tool sends an event."""
    event_tool(bench)
    return bench


def promise_of(bench: Bench, effect: Effect) -> Promise:
    with bench.tenant.tx():
        return Promise.objects.get(effect=effect)


def expected_signature(secret: str, heard: Heard) -> str:
    """The signature as the specification of Standard Webhooks describes it."""
    content = b".".join([heard.headers["webhook-id"].encode(), heard.headers["webhook-timestamp"].encode(), heard.body])
    digest = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), content, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


# Endpoints


@pytest.mark.requirement("N44", "N49")
def test_an_event_is_posted_to_its_subscriber(kitchen: Bench, target: Target) -> None:
    secret = subscribe(kitchen, f"{target.url}/events")
    effect = kitchen.execute(EVENT, quote="I'll tell the kitchen about your nut allergy.")
    [heard] = target.log
    assert (heard.method, heard.path, heard.document["type"]) == ("POST", "/events", EVENT)
    assert heard.document["data"] | {"effect": "", "turn": "", "persona": ""} == {
        "effect": "",
        "project": str(kitchen.tenant.project.pk),
        "conversation": str(kitchen.conversation.pk),
        "turn": "",
        "persona": "",
        "channel": "chat",
        "quote": "I'll tell the kitchen about your nut allergy.",
        "arguments": {},
    }
    assert heard.headers["webhook-id"] == effect.effect_key
    assert heard.headers["webhook-signature"] == expected_signature(secret, heard)


def test_a_success_status_acknowledges_the_event(kitchen: Bench, target: Target) -> None:
    subscribe(kitchen, target.url)
    effect = kitchen.execute(EVENT)
    assert (effect.state, effect.acknowledged_at is not None) == ("done", True)
    assert promise_of(kitchen, effect).state == "kept"


@pytest.mark.requirement("N44")
def test_an_event_is_in_the_log_once(kitchen: Bench, target: Target) -> None:
    """Under the tool's name, however often it is delivered."""
    target.answers(Answers(503), Answers(200))
    subscribe(kitchen, target.url)
    effect = kitchen.execute(EVENT)
    assert kitchen.events(EVENT) == [{"effect": str(effect.pk), "arguments": {}, "connector": "system"}]


def test_a_202_acknowledges_nothing_before_the_callback(kitchen: Bench, target: Target) -> None:
    target.answers(Answers(202, body=""))
    subscribe(kitchen, target.url)
    effect = kitchen.execute(EVENT)
    assert (effect.state, effect.acknowledged_at, promise_of(kitchen, effect).state) == ("sending", None, "open")
    address = target.log[0].headers["webhook-callback-url"].removeprefix("http://127.0.0.1:8000")
    assert Client().post(address, "{}", content_type="application/json").status_code == 200
    found = kitchen.effect(effect)
    assert (found.state, found.acknowledged_at is not None) == ("done", True)


def test_a_callback_with_an_error_acknowledges_nothing(kitchen: Bench, target: Target) -> None:
    target.answers(Answers(202, body=""))
    subscribe(kitchen, target.url)
    effect = kitchen.execute(EVENT)
    address = target.log[0].headers["webhook-callback-url"].removeprefix("http://127.0.0.1:8000")
    Client().post(address, json.dumps({"error": "The kitchen is closed."}), content_type="application/json")
    found = kitchen.effect(effect)
    assert (found.state, found.acknowledged_at, found.error) == ("failed", None, "The kitchen is closed.")


def test_an_event_is_retried_with_the_same_id(kitchen: Bench, target: Target) -> None:
    target.answers(Answers(503), Answers(drops=True), Answers(200))
    subscribe(kitchen, target.url)
    effect = kitchen.execute(EVENT)
    assert (effect.state, effect.attempts) == ("done", 3)
    assert {heard.headers["webhook-id"] for heard in target.log} == {effect.effect_key}
    assert len({heard.body for heard in target.log}) == 1


def test_a_refused_event_fails(kitchen: Bench, target: Target) -> None:
    target.answers(Answers(410))
    subscribe(kitchen, target.url)
    effect = kitchen.execute(EVENT)
    assert (effect.state, effect.acknowledged_at, promise_of(kitchen, effect).state) == ("failed", None, "broken")


def test_a_blocked_address_gets_no_event(kitchen: Bench, target: Target, settings: Any) -> None:
    """The operator's allow-list may change after the subscription was saved."""
    subscribe(kitchen, target.url)
    settings.OUTBOUND_ALLOW = []
    assert (kitchen.execute(EVENT).state, target.log) == ("failed", [])


def test_during_a_rotation_an_event_has_both_signatures(kitchen: Bench, target: Target) -> None:
    first = subscribe(kitchen, target.url)
    with kitchen.tenant.tx():
        second = rotate_secret(kitchen.tenant.project, EventSubscription.objects.get().pk)
    kitchen.execute(EVENT)
    [heard] = target.log
    expected = [expected_signature(secret, heard) for secret in (second, first)]
    assert heard.headers["webhook-signature"].split(" ") == expected


def test_the_secret_is_in_no_column_of_the_ledger(kitchen: Bench, target: Target) -> None:
    """Even if the endpoint echoes it."""
    secret = subscribe(kitchen, target.url)
    target.answers(Answers(200, body=json.dumps({"echo": secret})))
    effect = kitchen.execute(EVENT)
    assert secret.removeprefix("whsec_") not in json.dumps([effect.request, effect.result, effect.excerpt])


def test_a_subscription_shows_its_last_delivery(kitchen: Bench, target: Target) -> None:
    target.answers(Answers(410))
    subscribe(kitchen, target.url)
    kitchen.execute(EVENT)
    with kitchen.tenant.tx():
        row = EventSubscription.objects.get()
    assert (row.last_event, row.last_state, "410" in row.last_error) == (EVENT, "failed", True)


# Routing


def test_the_subscription_that_names_an_event_gets_it(kitchen: Bench, target: Target) -> None:
    subscribe(kitchen, f"{target.url}/all", events=())
    subscribe(kitchen, f"{target.url}/kitchen")
    kitchen.execute(EVENT)
    assert [heard.path for heard in target.log] == ["/kitchen"]


def test_other_events_go_to_the_subscription_for_all(kitchen: Bench, target: Target) -> None:
    subscribe(kitchen, f"{target.url}/all", events=())
    subscribe(kitchen, f"{target.url}/other", events=("other_event",))
    kitchen.execute(EVENT)
    assert [heard.path for heard in target.log] == ["/all"]


def test_a_disabled_subscription_gets_nothing(kitchen: Bench, target: Target) -> None:
    subscribe(kitchen, target.url)
    with kitchen.tenant.tx():
        EventSubscription.objects.update(is_enabled=False)
    assert (kitchen.execute(EVENT).error, target.log) == (NOBODY, [])


def test_another_tenants_subscription_gets_nothing(kitchen: Bench, stranger: Tenant, target: Target) -> None:
    with stranger.tx():
        add_subscription(stranger.project, SubscriptionEdit(url=target.url, events=(EVENT,)))
    assert (kitchen.execute(EVENT).error, target.log) == (NOBODY, [])


# Without a subscriber


@pytest.mark.requirement("N44")
def test_an_event_without_a_subscriber_is_never_done(kitchen: Bench) -> None:
    """Here the subscription is removed after the effect was planned."""
    subscribe(kitchen)
    [effect] = kitchen.plan(EVENT)
    with kitchen.tenant.tx():
        remove_subscription(kitchen.tenant.project, EventSubscription.objects.get().pk)
    kitchen.run()
    found = kitchen.effect(effect)
    assert (found.state, found.error, found.acknowledged_at) == ("failed", NOBODY, None)
    assert promise_of(kitchen, effect).state == "broken"


# The stream


@pytest.fixture
def awaited(kitchen: Bench) -> Effect:
    """An event whose subscriber reads the stream."""
    subscribe(kitchen)
    return kitchen.execute(EVENT)


def acknowledge(api: Client, effect: Effect) -> Any:
    return api.post(f"/api/v1/effects/{effect.pk}/acknowledge")


def test_an_event_for_the_stream_awaits_its_acknowledgment(kitchen: Bench, awaited: Effect) -> None:
    assert (awaited.state, awaited.acknowledged_at) == ("sending", None)
    [accepted] = kitchen.events("effect_accepted")
    assert (accepted["tool"], accepted["id"], accepted["state"]) == (EVENT, str(awaited.pk), "sending")


def test_a_client_of_the_stream_acknowledges_an_event(kitchen: Bench, awaited: Effect, api: Client) -> None:
    answer = acknowledge(api, awaited)
    assert (answer.status_code, answer.json()["state"]) == (200, "done")
    assert answer.json()["acknowledged_at"] is not None


def test_a_second_acknowledgment_changes_nothing(kitchen: Bench, awaited: Effect, api: Client) -> None:
    first = acknowledge(api, awaited).json()
    assert acknowledge(api, awaited).json() == first
    assert len(kitchen.events("effect_done")) == 1


def test_an_unacknowledged_event_becomes_unknown(kitchen: Bench, awaited: Effect, api: Client) -> None:
    """After an hour staff is asked. A late acknowledgment still counts."""
    with kitchen.tenant.tx():
        [job] = Job.objects.filter(subject_id=awaited.pk, state=State.QUEUED)
        Job.objects.filter(pk=job.pk).update(run_after=job.created_at)
    kitchen.run(hurry=False)
    assert kitchen.effect(awaited).state == "unknown"
    assert acknowledge(api, awaited).json()["state"] == "done"


def test_a_failed_event_cannot_be_acknowledged(kitchen: Bench, api: Client) -> None:
    assert acknowledge(api, kitchen.execute(EVENT)).status_code == 409


def test_only_events_can_be_acknowledged(bench: Bench, target: Target, api: Client) -> None:
    target.answers(Answers(202, body=""))
    bench.tool("notify", webhook(target.url, callback=True))
    effect = bench.execute("notify")
    assert acknowledge(api, effect).status_code == 409
    assert bench.effect(effect).state == "sending"


def test_a_stranger_cannot_acknowledge(awaited: Effect, stranger: Tenant) -> None:
    assert acknowledge(Client(headers=stranger.headers), awaited).status_code == 404


# Crashes


@pytest.mark.short_leases
@pytest.mark.parametrize("label", ["effect.sending_pre_bytes", "effect.bytes_out", "effect.response_pre_commit"])
def test_a_crash_redelivers_the_event_with_the_same_id(
    label: str, kitchen: Bench, target: Target, processes: ForkServer
) -> None:
    """The worker is killed between sending and the commit of the outcome."""
    subscribe(kitchen, target.url)
    [effect] = kitchen.plan(EVENT)
    processes.worker(crash_at=f"{label}:1").wait()
    processes.worker()
    settle(kitchen.tenant)
    found = kitchen.effect(effect)
    assert (found.state, found.acknowledged_at is not None) == ("done", True)
    assert len(target.log) == (1 if label == "effect.sending_pre_bytes" else 2)
    assert {heard.headers["webhook-id"] for heard in target.log} == {effect.effect_key}
