"""Tools that answer later: POST /tool-results/<token>."""

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
    """An effect whose tool said that it answers later."""
    target.answers(Answers(202, body=""))
    bench.tool("notify", webhook(target.url, callback=True, after_actions=[TELL]))
    return bench.execute("notify")


@pytest.fixture
def address(accepted: Effect, target: Target) -> str:
    """The path that the tool was given."""
    return target.log[0].headers["webhook-callback-url"].removeprefix("http://127.0.0.1:8000")


def call_back(address: str, document: object) -> int:
    body = document if isinstance(document, str) else json.dumps(document)
    return Client().post(address, body, content_type="application/json").status_code


def test_until_then_it_is_being_done(accepted: Effect) -> None:
    assert (accepted.state, accepted.accepted_at is not None) == ("sending", True)


def test_the_result_ends_it(bench: Bench, accepted: Effect, address: str) -> None:
    """The after-actions run now, once."""
    assert call_back(address, {"eta": "7 pm"}) == 200
    bench.run()
    found = bench.effect(accepted)
    assert (found.state, found.result) == ("done", {"body": {"eta": "7 pm"}})
    assert bench.urgent() == ['Crew says: {"eta": "7 pm"}']


def test_a_second_result_changes_nothing(bench: Bench, accepted: Effect, address: str) -> None:
    """Single use; a replay is answered 200."""
    call_back(address, {"eta": "7 pm"})
    bench.run()
    assert call_back(address, {"eta": "never"}) == 200
    bench.run()
    assert bench.effect(accepted).result == {"body": {"eta": "7 pm"}}
    assert len(bench.urgent()) == 1


def test_a_result_may_say_that_it_failed(bench: Bench, accepted: Effect, address: str) -> None:
    call_back(address, {"error": "No crew is on duty."})
    found = bench.effect(accepted)
    assert (found.state, found.error) == ("failed", "No crew is on duty.")


@pytest.mark.parametrize("error", [None, "", False])
def test_a_result_whose_error_is_none_is_a_result(error: object, bench: Bench, accepted: Effect, address: str) -> None:
    """Many endpoints always write the field."""
    call_back(address, {"error": error, "eta": "7 pm"})
    assert bench.effect(accepted).state == "done"


def test_a_token_that_is_nobodys_is_404(accepted: Effect, address: str) -> None:
    assert call_back(address[:-1] + ("A" if address[-1] != "A" else "B"), {}) == 404
    assert call_back("/api/v1/tool-results/x", {}) == 404


def test_the_token_has_256_bits_and_only_its_digest_is_stored(accepted: Effect, address: str) -> None:
    token = address.rpartition("/")[2]
    assert len(token) == 43
    assert token not in json.dumps(accepted.request)
    assert token not in accepted.callback_hash


def test_two_effects_have_two_tokens(bench: Bench, accepted: Effect, target: Target) -> None:
    bench.execute("notify", quote="I'll notify them again.", hears="Please notify them again.")
    assert len({heard.headers["webhook-callback-url"] for heard in target.log}) == len(target.log) == 2


def test_a_result_of_another_tenants_effect_stays_there(stranger: Tenant, accepted: Effect, address: str) -> None:
    with stranger.tx():
        assert not Effect.objects.exists()
    assert call_back(address, {}) == 200


def test_a_result_that_never_comes_is_asked_for(bench: Bench, accepted: Effect) -> None:
    """After an hour staff is asked; the agent never hears of a success."""
    with bench.tenant.tx():
        [job] = Job.objects.filter(subject_id=accepted.pk, state=State.QUEUED)
        assert 3500 < (job.run_after - job.created_at).total_seconds() < 3700
        Job.objects.filter(pk=job.pk).update(run_after=job.created_at)
    bench.run(hurry=False)
    found = bench.effect(accepted)
    assert (found.state, found.error) == ("unknown", NO_CALLBACK)
    # What was sent is what staff goes by.
    assert found.request
    assert found.request == accepted.request


def test_a_result_after_that_is_welcome(bench: Bench, accepted: Effect, address: str) -> None:
    with bench.tenant.tx():
        Effect.objects.filter(pk=accepted.pk).update(state="unknown")
    call_back(address, {"eta": "late"})
    assert bench.effect(accepted).state == "done"


def test_a_result_that_comes_before_the_202(bench: Bench, target: Target) -> None:
    """A fast tool: it calls back while we still wait for its first answer."""
    target.answers(Answers(202, body=""))
    target.on_request = lambda heard: call_back(
        heard.headers["webhook-callback-url"].removeprefix("http://127.0.0.1:8000"), {"eta": "now"}
    )
    bench.tool("notify", webhook(target.url, callback=True))
    assert bench.execute("notify").result == {"body": {"eta": "now"}}


def test_a_tool_that_may_answer_later_may_answer_at_once(bench: Bench, target: Target) -> None:
    """Only a 202 says that there is more to come."""
    target.answers(Answers(200, body='{"eta": "now"}'))
    bench.tool("notify", webhook(target.url, callback=True))
    assert bench.execute("notify").state == "done"


def test_a_body_that_is_no_json_is_data_too(bench: Bench, accepted: Effect, address: str) -> None:
    call_back(address, "<html>login</html>")
    assert bench.effect(accepted).result == {"body": "<html>login</html>", "note": "The answer was not JSON."}
