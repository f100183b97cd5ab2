"""Model failures, as seen by the customer and staff."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from unittest.mock import AsyncMock

import pytest
from cryptography.fernet import Fernet
from django.urls import reverse

from conversations.flows import reply
from conversations.models import Event, Message
from jobs.models import Job
from jobs.services import run_again
from llm.errors import TotalDeadline
from projects.agents.model_choice import KEY_ATTRIBUTE, UNREADABLE_KEY
from projects.models import Attribute
from projects.models.attribute import AttributeType
from projects.records.attributes import fill_row, set_attribute
from tests.bypass_rls import bypass_rls
from tests.console.pages.conftest import browser
from tests.conversations.pipeline.conftest import configure
from tests.conversations.threads import claimed, run
from tests.crashes.invariants import settle

APOLOGY = "Sorry, I can’t reply"
TRY_AGAIN = "Please try again in a moment."


@pytest.mark.parametrize("fault", ["401", "404", "content_filter", "html", "empty", "error_200"])
def test_a_failing_model_leads_to_one_apology(fault, talk, worker, model):
    model.script("reply", times=0, fault=fault)
    turn = talk.exchange("Hello")
    assert turn["status"] == "failed"
    assert turn["reply"]["content"].startswith(APOLOGY)
    with talk.tenant.tx():
        assert Message.objects.filter(role="agent").count() == 1


@pytest.mark.parametrize("fault", ["401", "404"])
def test_a_permanent_failure_does_not_suggest_to_try_again(fault, talk, worker, model):
    """It lasts until somebody changes the settings. Staff reads the cause in the flag and in the turn."""
    model.script("reply", times=0, fault=fault)
    turn = talk.exchange("Hello")
    assert TRY_AGAIN not in turn["reply"]["content"]
    assert f"The model endpoint answered {fault}" in talk.reload().flag
    assert f"The model endpoint answered {fault}" in turn["error"]


@pytest.mark.parametrize("fault", ["html", "error_200"])
def test_a_passing_failure_suggests_to_try_again(fault, talk, worker, model):
    model.script("reply", times=0, fault=fault)
    assert TRY_AGAIN in talk.exchange("Hello")["reply"]["content"]


def test_staff_is_flagged_when_no_reply_could_be_written(talk, worker, model):
    model.script("reply", times=0, fault="401")
    turn = talk.exchange("Hello")
    assert talk.reload().flag
    assert turn["jobs"][0]["state"] == "failed"
    with talk.tenant.tx():
        assert Event.objects.filter(idn="reply_failed").exists()


def test_an_apology_is_never_analysed(talk, worker, model):
    model.script("reply", times=0, fault="401")
    turn = talk.exchange("Hello")
    assert [job["lane"] for job in turn["jobs"]] == ["reply"]


def test_the_next_message_tries_again(talk, worker, model):
    model.script("reply", times=1, fault="401")
    talk.exchange("Hello")
    model.script("reply", text="Good evening!")
    assert talk.exchange("Are you there?")["reply"]["content"] == "Good evening!"


def test_the_apology_is_in_the_customers_language(talk, worker, model):
    talk.exchange("Buonasera, vorrei sapere se avete un tavolo libero per questa sera")
    model.script("reply", times=1, fault="401")
    assert talk.exchange("Allora?")["reply"]["content"].startswith("Mi dispiace")


@pytest.mark.parametrize("fault", ["cut", "eof"])
def test_an_interrupted_reply_is_written_again(fault, talk, worker, model):
    """One retry from the start; it replaces the text shown so far."""
    model.script("reply", times=1, fault=fault, after_tokens=2, text="One two three four five")
    model.script("reply", times=1, text="Good evening!")
    turn = talk.exchange("Hello")
    assert turn["reply"]["content"] == "Good evening!"
    assert [call["error"] for call in turn["model_calls"] if call["skill"] == "reply"] == ["stream_cut", None]


def test_a_reply_interrupted_twice_is_never_shown_as_complete(talk, worker, model):
    model.script("reply", times=2, fault="cut", after_tokens=2, text="One two three four five")
    turn = talk.exchange("Hello")
    assert turn["status"] == "failed"
    assert turn["reply"]["content"].startswith(APOLOGY)
    assert turn["partial"]


def test_a_reply_cut_off_by_length_continues_once(talk, worker, model):
    model.script("reply", times=1, fault="length", text="We open at noon and ", after_tokens=50)
    model.script("reply", times=1, text="close at three.")
    assert talk.exchange("When do you open?")["reply"]["content"] == "We open at noon and close at three."


def test_a_busy_model_is_retried(talk, worker, model):
    model.script("reply", times=1, fault="429", retry_after=0)
    model.script("reply", times=1, text="Good evening!")
    turn = talk.exchange("Hello")
    assert turn["reply"]["content"] == "Good evening!"
    assert [call["attempts"] for call in turn["model_calls"] if call["skill"] == "reply"] == [2]


def test_a_turn_waits_for_a_model_that_is_out(talk, worker, model):
    """Five failures in a row open the breaker. A second without a model failed 13 turns of 60, 11 by the breaker."""
    model.script("reply", times=5, fault="500")
    model.script("reply", times=1, text="Good evening!")
    turn = talk.exchange("Hello")
    assert (turn["status"], turn["reply"]["content"]) == ("done", "Good evening!")
    assert next(call["error"] for call in turn["model_calls"] if call["skill"] == "reply") == "unavailable"


def test_analyses_wait_for_a_model_that_is_out(talk, worker, model):
    model.script("thoughts", times=5, fault="500")
    turn = talk.exchange("Hello")
    assert {job["state"] for job in turn["jobs"]} == {"done"}


@pytest.mark.parametrize("lane", ["observer", "thoughts", "tool_caller"])
def test_an_analysis_whose_model_hung_is_tried_again(lane, talk, model, settings, monkeypatch):
    """It failed for good, and nobody looked for the promises of the reply."""
    settings.OPENAI_BASE_URL = model.base_url
    talk.say("Could you text me the address?")
    run(claimed("reply"))
    hung = AsyncMock(side_effect=TotalDeadline)
    monkeypatch.setattr("llm.client.Client.structured", hung)
    run(claimed(lane))
    with talk.tenant.tx():
        job = Job.objects.get(lane=lane)
    assert (hung.call_count > 0, job.state, job.attempts) == (True, "queued", 1)


@pytest.fixture
def answered(talk, model, settings):
    """Runs the reply's job once, as a worker does, and returns its end."""
    settings.OPENAI_BASE_URL = model.base_url

    def run_once(words="Hello"):
        talk.say(words)
        run(claimed("reply"))
        with talk.tenant.tx():
            return Job.objects.get(lane="reply"), Message.objects.filter(role="agent").count()

    return run_once


def test_a_turn_that_waits_for_a_model_keeps_its_attempts(answered, model):
    model.script("reply", times=0, fault="500")
    job, told = answered()
    assert (job.state, job.attempts, told) == ("queued", 0, 0)


def test_a_customer_who_waited_for_long_is_told(answered, model, monkeypatch):
    monkeypatch.setattr(reply, "PATIENCE", timedelta(0))
    model.script("reply", times=0, fault="500")
    job, told = answered()
    assert (job.state, told) == ("failed", 1)


@pytest.mark.parametrize(("hours", "told"), [(1, 0), (-1, 1)])
def test_the_wait_for_a_model_is_measured_by_the_database(talk, model, settings, monkeypatch, hours, told):
    """A worker's clock an hour ahead gave up at once; one that was late waited for an hour."""
    settings.OPENAI_BASE_URL = model.base_url
    model.script("reply", times=0, fault="500")
    talk.say("Hello")
    monkeypatch.setattr("django.utils.timezone.now", lambda: datetime.now(UTC) + timedelta(hours=hours))
    if told:
        bypass_rls("update jobs_job set created_at = created_at - interval '31 seconds'")
    run(claimed("reply"))
    with talk.tenant.tx():
        assert Message.objects.filter(role="agent").count() == told


def test_a_reply_that_was_shown_in_part_is_not_put_off(answered, model):
    """The customer would see it change."""
    model.script("reply", times=1, fault="length", text="We open at noon. We ", after_tokens=50)
    model.script("reply", times=0, fault="500")
    job, told = answered()
    assert (job.state, told) == ("failed", 1)


def test_failed_thoughts_keep_the_earlier_directives(talk, worker, model):
    first = talk.exchange("A table for two")
    model.script("thoughts", times=0, fault="401")
    second = talk.exchange("On Friday")
    assert second["directives_written"] is None
    assert talk.reload().directives_turn == first["seq"]


def test_no_tool_runs_when_the_detection_fails(talk, worker, model):
    model.script("reply", text="I'll send you an SMS.")
    model.script("detect", times=0, fault="401")
    turn = talk.exchange("Text me")
    assert (turn["verdicts"], turn["effects"]) == ([], [])


def test_staff_can_retry_a_failed_reply(talk, worker, model):
    model.script("reply", times=1, fault="401")
    turn = talk.exchange("Hello")
    model.script("reply", text="Good evening!")
    with talk.tenant.tx():
        run_again(talk.tenant.project, Job.objects.get(lane="reply").pk)
    settle(talk.tenant)
    with talk.tenant.tx():
        assert Message.objects.order_by("-seq").first().content == "Good evening!"
    assert turn["status"] == "failed"


def test_a_key_echoed_in_a_model_error_is_not_stored(talk, worker, model):
    """A 401 that echoes the key puts no secret into any row."""
    model.script("reply", times=1, fault="401")
    turn = talk.exchange("Hello")
    assert "Bearer" not in str(turn)


@pytest.fixture
def lost_key(tenant, settings):
    """A project whose own model key was encrypted with a lost key, while its organization's key is readable."""
    configure(tenant, model_base_url="https://models.example/v1")
    with tenant.tx():
        row = Attribute(project=None, key=KEY_ATTRIBUTE, type=AttributeType.SECRET)
        fill_row(row, "sk-of-the-organization")
        row.save()
        standing, settings.ENCRYPTION_KEYS = settings.ENCRYPTION_KEYS, [Fernet.generate_key().decode()]
        set_attribute(tenant.project, KEY_ATTRIBUTE, "sk-lost", type=AttributeType.SECRET)
    settings.ENCRYPTION_KEYS = standing


def test_a_lost_model_key_is_reported_with_where_to_enter_it(lost_key, talk, worker, model):
    """At once. No other key is sent to its endpoint, and no customer's words to the operator's model."""
    turn = talk.exchange("Hello")
    job = turn["jobs"][0]
    assert (turn["status"], job["state"], job["attempts"], job["error"]) == ("failed", "failed", 1, UNREADABLE_KEY)
    assert "Enter it again under Configuration, Models." in talk.reload().flag
    page = browser(talk.tenant.owner).get(reverse("failed_jobs", args=[talk.tenant.project.slug])).content.decode()
    assert "Enter it again under Configuration, Models." in page
    assert model.requests() == []


def test_an_evaluation_uses_no_other_key_in_place_of_a_lost_one(lost_key, api, model):
    answer = api.post(
        "/api/v1/tools/evaluate", {"answer": "I'll text you the address."}, content_type="application/json"
    )
    assert (answer.status_code, answer.json()["error"]["message"]) == (502, UNREADABLE_KEY)
    assert model.requests() == []
