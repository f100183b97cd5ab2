"""Tools that answer later, at POST /tool-results/<token>."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from conversations.tool_runs.effects.outcome_events import NO_CALLBACK
from jobs.models import Job, State
from tests.conftest import Tenant
from tests.conversations.effects.conftest import Bench, webhook
from tests.conversations.effects.target import Answers, Target
from tools.models import Effect

TELL = {"type": "send_urgent_message", "options": {"prefix": "Crew says"}}


@pytest.fixture
def accepted(bench: Bench, target: Target) -> Effect:
    """An effect whose tool answered 202."""
    target.answers(Answers(202, body=""))
    bench.tool("notify", webhook(target.url, callback=True, after_actions=[TELL]))
    return bench.execute("notify")


@pytest.fixture
def address(accepted: Effect, target: Target) -> str:
    """The callback URL's path that the tool was given."""
    return target.log[0].headers["webhook-callback-url"].removeprefix("http://127.0.0.1:8000")


def call_back(address: str, document: object) -> int:
    body = document if isinstance(document, str) else json.dumps(document)
    return Client().post(address, body, content_type="application/json").status_code


def test_an_accepted_effect_stays_in_progress(accepted: Effect) -> None:
    assert (accepted.state, accepted.accepted_at is not None) == ("sending", True)


def test_a_callback_ends_the_effect(bench: Bench, accepted: Effect, address: str) -> None:
    """The after-actions then run once."""
    assert call_back(address, {"eta": "7 pm"}) == 200
    bench.run()
    found = bench.effect(accepted)
    assert (found.state, found.result) == ("done", {"body": {"eta": "7 pm"}})
    assert bench.urgent() == ['Crew says: {"eta": "7 pm"}']


def test_a_second_callback_changes_nothing(bench: Bench, accepted: Effect, address: str) -> None:
    """A token is used once; a replay is answered with 200."""
    call_back(address, {"eta": "7 pm"})
    bench.run()
    assert call_back(address, {"eta": "never"}) == 200
    bench.run()
    assert bench.effect(accepted).result == {"body": {"eta": "7 pm"}}
    assert len(bench.urgent()) == 1


def test_a_callback_may_report_a_failure(bench: Bench, accepted: Effect, address: str) -> None:
    call_back(address, {"error": "No crew is on duty."})
    found = bench.effect(accepted)
    assert (found.state, found.error) == ("failed", "No crew is on duty.")


@pytest.mark.parametrize("error", [None, "", False])
def test_a_callback_with_a_null_error_is_a_success(error: object, bench: Bench, accepted: Effect, address: str) -> None:
    """Many endpoints always send the field."""
    call_back(address, {"error": error, "eta": "7 pm"})
    assert bench.effect(accepted).state == "done"


def test_an_unknown_callback_token_is_404(accepted: Effect, address: str) -> None:
    assert call_back(address[:-1] + ("A" if address[-1] != "A" else "B"), {}) == 404
    assert call_back("/api/v1/tool-results/x", {}) == 404


def test_a_callback_token_has_256_bits_and_only_its_digest_is_stored(accepted: Effect, address: str) -> None:
    token = address.rpartition("/")[2]
    assert len(token) == 43
    assert token not in json.dumps(accepted.request)
    assert token not in accepted.callback_hash


def test_each_effect_has_its_own_callback_token(bench: Bench, accepted: Effect, target: Target) -> None:
    bench.execute("notify", quote="I'll notify them again.", hears="Please notify them again.")
    assert len({heard.headers["webhook-callback-url"] for heard in target.log}) == len(target.log) == 2


def test_a_callback_cannot_reach_another_tenants_effect(stranger: Tenant, accepted: Effect, address: str) -> None:
    with stranger.tx():
        assert not Effect.objects.exists()
    assert call_back(address, {}) == 200


def test_an_effect_without_a_callback_becomes_unknown(bench: Bench, accepted: Effect) -> None:
    """After an hour staff is asked; the agent never reads of a success."""
    with bench.tenant.tx():
        [job] = Job.objects.filter(subject_id=accepted.pk, state=State.QUEUED)
        assert 3500 < (job.run_after - job.created_at).total_seconds() < 3700
        Job.objects.filter(pk=job.pk).update(run_after=job.created_at)
    bench.run(hurry=False)
    found = bench.effect(accepted)
    assert (found.state, found.error) == ("unknown", NO_CALLBACK)
    # Staff decides by what was sent.
    assert found.request
    assert found.request == accepted.request


def test_a_callback_after_the_deadline_is_still_accepted(bench: Bench, accepted: Effect, address: str) -> None:
    with bench.tenant.tx():
        Effect.objects.filter(pk=accepted.pk).update(state="unknown")
    call_back(address, {"eta": "late"})
    assert bench.effect(accepted).state == "done"


def test_a_callback_may_precede_the_202_response(bench: Bench, target: Target) -> None:
    """A fast tool calls back before its first response arrives."""
    target.answers(Answers(202, body=""))
    target.on_request = lambda heard: call_back(
        heard.headers["webhook-callback-url"].removeprefix("http://127.0.0.1:8000"), {"eta": "now"}
    )
    bench.tool("notify", webhook(target.url, callback=True))
    assert bench.execute("notify").result == {"body": {"eta": "now"}}


def test_a_tool_with_callbacks_may_answer_at_once(bench: Bench, target: Target) -> None:
    """Only a 202 announces a callback."""
    target.answers(Answers(200, body='{"eta": "now"}'))
    bench.tool("notify", webhook(target.url, callback=True))
    assert bench.execute("notify").state == "done"


def test_a_callback_body_that_is_not_json_is_kept_as_text(bench: Bench, accepted: Effect, address: str) -> None:
    call_back(address, "<html>login</html>")
    assert bench.effect(accepted).result == {"body": "<html>login</html>", "note": "The answer was not JSON."}
