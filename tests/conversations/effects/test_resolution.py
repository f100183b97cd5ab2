"""Staff resolve unknown effects and release held repeats."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from tests.conftest import Tenant
from tests.conversations.effects.conftest import Bench, webhook
from tests.conversations.effects.target import Answers, Target
from tools.models import Effect, Evidence, Promise, PromiseState


@pytest.fixture
def unknown(bench: Bench, target: Target) -> Effect:
    target.answers(Answers(500), Answers(200))
    bench.tool("notify", webhook(target.url))
    return bench.execute("notify")


def resolve(api: Client, effect: Effect, body: Any) -> Any:
    return api.post(f"/api/v1/effects/{effect.pk}/resolve", body, content_type="application/json")


def test_confirming_an_effect_lets_the_agent_say_so(api: Client, bench: Bench, unknown: Effect) -> None:
    answer = resolve(api, unknown, {"happened": True})
    assert (answer.status_code, answer.json()["state"]) == (200, "done")
    assert bench.urgent()[-1] == "A colleague has checked it: it was done."


def test_an_effect_that_did_not_happen_is_sent_again_under_the_same_key(
    api: Client, bench: Bench, unknown: Effect, target: Target
) -> None:
    """Confirming it did not happen is a new approval; the same key lets the endpoint detect a duplicate."""
    answer = resolve(api, unknown, {"happened": False})
    assert (answer.status_code, answer.json()["state"]) == (200, "planned")
    bench.run()
    assert bench.effect(unknown).state == "done"
    assert target.keys() == [unknown.effect_key] * 2


@pytest.mark.parametrize(("answers", "state"), [([Answers(404)], "failed"), ([Answers(429), Answers(200)], "done")])
def test_an_approved_retry_starts_a_new_series_of_attempts(
    answers: list[Answers], state: str, api: Client, bench: Bench, target: Target
) -> None:
    """The uncertainty is cleared, and the retry count starts again."""
    target.answers(Answers(500), *answers)
    bench.tool("notify", webhook(target.url))
    effect = bench.execute("notify")
    with bench.tenant.tx():
        Effect.objects.update(deadline_at="2026-01-01T00:00:00Z", is_uncertain=True)
    resolve(api, effect, {"happened": False})
    bench.run()
    assert bench.effect(effect).state == state


@pytest.mark.requirement("N21")
def test_after_actions_follow_the_attempt_that_staff_approved(api: Client, bench: Bench, target: Target) -> None:
    """While the outcome is unknown, no after-action runs or is skipped."""
    target.answers(Answers(500), Answers(body="on the way"))
    tell = {"type": "send_urgent_message", "options": {"prefix": "Crew says"}}
    bench.tool("notify", webhook(target.url, after_actions=[tell]))
    effect = bench.execute("notify")
    resolve(api, effect, {"happened": False})
    bench.run()
    assert [row.state for row in bench.effect(effect).after_actions.all()] == ["done"]
    assert bench.urgent()[1:] == ["Crew says: on the way"]


def test_only_an_unknown_effect_is_resolved(api: Client, bench: Bench, unknown: Effect) -> None:
    resolve(api, unknown, {"happened": True})
    answer = resolve(api, unknown, {"happened": False})
    assert (answer.status_code, bench.effect(unknown).state) == (409, "done")


@pytest.mark.parametrize("body", [{}, {"happened": "maybe"}, {"happened": True, "by": "me"}])
def test_an_invalid_resolution_is_refused(body: Any, api: Client, bench: Bench, unknown: Effect) -> None:
    assert resolve(api, unknown, body).status_code == 400
    assert bench.effect(unknown).state == "unknown"


def test_two_concurrent_resolutions_count_once(tenant: Tenant, bench: Bench, unknown: Effect, target: Target) -> None:
    def answer(happened: bool) -> int:
        try:
            return int(resolve(Client(headers=tenant.headers), unknown, {"happened": happened}).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as people:
        statuses = list(people.map(answer, [False] * 4))
    bench.run()
    assert sorted(statuses) == [200, 409, 409, 409]
    assert len(target.log) == 2


def test_another_tenants_effect_is_not_found(stranger: Tenant, unknown: Effect) -> None:
    answer = resolve(Client(headers=stranger.headers), unknown, {"happened": True})
    assert answer.status_code == 404


def test_a_held_repeat_is_released(api: Client, bench: Bench, target: Target) -> None:
    bench.tool("notify", webhook(target.url))
    bench.execute("notify")
    held = bench.execute("notify")
    answer = api.post(f"/api/v1/effects/{held.pk}/release")
    assert (held.state, answer.status_code) == ("held", 200)
    bench.run()
    assert (bench.effect(held).state, len(target.log), len(bench.urgent())) == ("done", 2, 1)


def test_only_a_held_effect_is_released(api: Client, unknown: Effect) -> None:
    assert api.post(f"/api/v1/effects/{unknown.pk}/release").status_code == 409


def test_a_promise_stays_open_while_its_effect_is_unknown(api: Client, bench: Bench, target: Target) -> None:
    target.answers(Answers(500))
    bench.tool("notify", webhook(target.url))
    [effect] = bench.plan("notify")
    bench.run()
    assert promise_of(bench, effect) == (PromiseState.OPEN, Evidence.NONE, "staff")
    resolve(api, effect, {"happened": True})
    assert promise_of(bench, effect) == (PromiseState.KEPT, Evidence.PERSON, "")


def promise_of(bench: Bench, effect: Effect) -> tuple[str, str, str]:
    with bench.tenant.tx():
        promise = Promise.objects.get(effect=effect)
    return promise.state, promise.evidence, promise.owner
