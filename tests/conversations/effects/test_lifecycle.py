"""The lifecycle of an effect: each step is committed before the next, and no completed step is repeated."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest
from django.db.models.functions import Now
from django.test import Client

from config.backup.uncertain import REASON, mark_uncertain
from config.runner.postgres import DATABASE
from conversations.flows import effects
from conversations.followups.waits import open_wait
from conversations.live.event_log import open_log
from conversations.models import Turn, Wait
from conversations.tool_runs.effects.conversation_run import SPOKEN_AGAIN
from conversations.turns.services import give_fields
from jobs import claims
from jobs.lanes import lane_of
from jobs.models import LIVE, Job, State
from jobs.services import fail_job
from projects.records.attributes import set_attribute
from tests.backup.conftest import admin_url
from tests.conversations.effects.conftest import PHONE, Bench, webhook
from tests.conversations.effects.target import Answers, Target
from tests.processes import ScriptedModel
from tools.engine.custom.service import remove, save
from tools.engine.execution.outcome_policy import MAX_ATTEMPTS
from tools.engine.ledger import RETRY_WINDOW
from tools.models import AfterAction, Effect, EffectState

BODY = {
    "type": "object",
    "properties": {"customer_name": {"type": "string", "description": "The customer's full name"}},
}


def test_sending_is_committed_before_the_first_byte_leaves(bench: Bench, target: Target) -> None:
    """The target sees no request of an effect that is not `sending` in the ledger."""
    seen = []
    bench.tool("notify", webhook(target.url))
    [effect] = bench.plan("notify")
    target.on_request = lambda heard: seen.append((bench.effect(effect).state, bench.effect(effect).attempts))
    bench.run()
    assert seen == [("sending", 1)]
    assert bench.effect(effect).state == "done"


def test_arguments_are_asked_for_once(bench: Bench, target: Target, model: ScriptedModel) -> None:
    """Later attempts send what the model decided first."""
    target.answers(Answers(429), Answers(200))
    bench.tool("notify", webhook(target.url, body=BODY))
    effect = bench.execute("notify", hears="I'm Giulia Ferri")
    assert (effect.state, effect.attempts, len(target.log)) == ("done", 2, 2)
    # The deadline counts from the first attempt.
    assert effect.deadline_at - effect.started_at < RETRY_WINDOW
    assert len(model.requests("arguments")) == 1
    assert target.log[0].body == target.log[1].body


def test_a_once_effect_with_an_unknown_outcome_is_never_sent_again(bench: Bench, target: Target) -> None:
    """Staff is asked, and the agent says it is being checked."""
    target.answers(Answers(500))
    bench.tool("notify", webhook(target.url))
    effect = bench.execute("notify")
    assert (effect.state, len(target.log)) == ("unknown", 1)
    [told] = bench.urgent()
    assert "a colleague is checking it" in told


def test_an_idempotent_effect_is_retried_under_the_same_key(bench: Bench, target: Target) -> None:
    target.answers(Answers(500), Answers(drops=True), Answers(200))
    bench.tool("notify", webhook(target.url, delivery="idempotent"))
    effect = bench.execute("notify")
    assert (effect.state, effect.attempts) == ("done", 3)
    assert target.keys() == [effect.effect_key] * 3


def test_attempts_are_counted_and_limited(bench: Bench, target: Target) -> None:
    """After the fifth attempt it is left to staff, not called failed."""
    target.answers(Answers(500))
    bench.tool("notify", webhook(target.url, delivery="idempotent"))
    effect = bench.execute("notify")
    assert (effect.state, effect.attempts, len(target.log)) == ("unknown", 5, 5)


def test_a_refusal_fails_the_effect_and_is_told(bench: Bench, target: Target) -> None:
    """The endpoint's response is kept for staff."""
    target.answers(Answers(404, body='{"why": "closed"}'))
    bench.tool("notify", webhook(target.url))
    effect = bench.execute("notify")
    assert (effect.state, effect.error) == ("failed", "The endpoint refused it (404).")
    assert effect.result == {"status": 404, "body": {"why": "closed"}}
    assert bench.urgent() == ["notify was not done: The endpoint refused it (404)."]


def test_a_redirect_fails_the_effect_and_names_itself(bench: Bench, target: Target) -> None:
    """It was called a refusal."""
    target.answers(Answers(302, headers={"Location": "http://169.254.169.254/"}))
    bench.tool("notify", webhook(target.url))
    effect = bench.execute("notify")
    assert (effect.state, len(target.log), "redirects (302)" in effect.error) == ("failed", 1, True)


def test_retries_are_delayed(bench: Bench, target: Target) -> None:
    target.answers(Answers(429, headers={"Retry-After": "4"}))
    bench.tool("notify", webhook(target.url))
    effect = bench.execute("notify", hurry=False)
    assert (effect.state, effect.attempts) == ("planned", 1)
    with bench.tenant.tx():
        job = Job.objects.get(subject_id=effect.pk, state=State.QUEUED)
    assert 3.5 <= (job.run_after - effect.started_at).total_seconds() <= 6


def test_retries_end_fifteen_minutes_after_the_first_attempt(bench: Bench, target: Target) -> None:
    """Later attempts don't extend the deadline."""
    target.answers(*[Answers(429)] * MAX_ATTEMPTS)
    bench.tool("notify", webhook(target.url))
    first = bench.execute("notify", hurry=False)
    assert first.deadline_at - first.started_at == timedelta(minutes=15)
    bench.run()
    last = bench.effect(first)
    assert (last.attempts, last.state, last.deadline_at) == (MAX_ATTEMPTS, "failed", first.deadline_at)


def test_planning_the_next_attempt_finishes_the_current_job(
    bench: Bench, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that dies right after it leaves no second job that would run too early."""

    def die(label: str) -> None:
        if label == "effect.committed_pre_after_actions":
            raise RuntimeError(label)

    monkeypatch.setattr(effects, "failpoint", die)
    target.answers(Answers(429, headers={"Retry-After": "4"}))
    bench.tool("notify_crew", webhook(target.url, after_actions=[{"type": "send_urgent_message", "options": {}}]))
    bench.execute("notify_crew", hurry=False)
    with bench.tenant.tx():
        [left] = Job.objects.filter(lane="effect", state__in=LIVE)
    assert left.key.endswith(":attempt:2")


def test_a_once_effect_whose_worker_died_is_unknown(bench: Bench, target: Target) -> None:
    bench.tool("notify", webhook(target.url))
    [effect] = bench.plan("notify")
    left_behind(bench, effect)
    bench.run()
    assert (bench.effect(effect).state, target.log) == ("unknown", [])


def test_a_planned_effect_of_a_restored_installation_is_unknown(bench: Bench, target: Target) -> None:
    bench.tool("notify", webhook(target.url))
    [effect] = bench.plan("notify")
    with psycopg.connect(admin_url(DATABASE)) as superuser:
        assert mark_uncertain(superuser) == 1
    bench.run()
    found = bench.effect(effect)
    assert (found.state, found.error, target.log) == ("unknown", REASON, [])


def test_an_idempotent_effect_whose_worker_died_is_retried(bench: Bench, target: Target) -> None:
    bench.tool("notify", webhook(target.url, delivery="idempotent"))
    [effect] = bench.plan("notify")
    left_behind(bench, effect)
    bench.run()
    found = bench.effect(effect)
    assert (found.state, found.is_uncertain, target.keys()) == ("done", True, [effect.effect_key])


def test_attempts_of_dead_workers_count_toward_the_limit(bench: Bench, target: Target) -> None:
    """At most five requests in total."""
    bench.tool("notify", webhook(target.url, delivery="idempotent"))
    [effect] = bench.plan("notify")
    left_behind(bench, effect)
    with bench.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(attempts=5)
    bench.run()
    assert (bench.effect(effect).state, target.log) == ("unknown", [])


def left_behind(bench: Bench, effect: Effect) -> None:
    """The state a worker leaves when it dies while sending."""
    with bench.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(
            state=EffectState.SENDING, attempts=1, arranged_at="2026-01-01T00:00:00Z", started_at="2026-01-01T00:00:00Z"
        )


def test_a_tool_that_was_removed_is_not_executed(bench: Bench, target: Target) -> None:
    bench.tool("notify", webhook(target.url))
    [effect] = bench.plan("notify")
    with bench.tenant.tx():
        remove(bench.tenant.project, name="notify")
    bench.run()
    found = bench.effect(effect)
    assert (found.state, found.error, target.log) == ("cancelled", "The tool notify was removed.", [])
    assert bench.urgent() == ["notify was not done: The tool notify was removed."]


def test_an_effect_that_may_have_happened_is_not_cancelled_when_its_tool_is_removed(
    bench: Bench, target: Target
) -> None:
    """Between two attempts; staff finds out."""
    target.answers(Answers(500))
    bench.tool("notify", webhook(target.url, delivery="idempotent"))
    effect = bench.execute("notify", hurry=False)
    assert (effect.state, effect.is_uncertain) == ("sending", True)
    with bench.tenant.tx():
        remove(bench.tenant.project, name="notify")
    bench.run()
    assert (bench.effect(effect).state, len(target.log)) == ("unknown", 1)


def test_a_tool_that_was_switched_off_is_not_executed(bench: Bench, target: Target) -> None:
    bench.tool("notify", webhook(target.url))
    [effect] = bench.plan("notify")
    with bench.tenant.tx():
        save(bench.tenant.project, name="notify", document=webhook(target.url), is_enabled=False)
    bench.run()
    assert (bench.effect(effect).state, target.log) == ("cancelled", [])


def test_a_built_in_tool_whose_requirements_are_no_longer_met_is_not_executed(bench: Bench) -> None:
    bench.switch_on("sms_send_information_enabled")
    [effect] = bench.plan("send_sms_tool")
    with bench.tenant.tx():
        set_attribute(bench.tenant.project, "project_attributes_setting_sms_send_information_enabled", False)
    bench.run()
    found = bench.effect(effect)
    assert found.state == "cancelled"
    assert "switched off" in found.error


def test_a_tool_that_was_edited_runs_as_planned(bench: Bench, target: Target) -> None:
    """The planned snapshot decides."""
    for place in ("oldest", "old"):
        bench.tool("notify", webhook(f"{target.url}/{place}"))
    [effect] = bench.plan("notify")
    bench.tool("notify", webhook(f"{target.url}/new"))
    bench.run()
    assert [heard.path for heard in target.log] == ["/old"]
    assert bench.effect(effect).tool_version == 2


@pytest.mark.requirement("N44")
def test_a_built_in_tools_event_is_in_the_log(bench: Bench) -> None:
    """EventIdn is the tool's name, connectorIdn is "system", and the flow of that name has run."""
    bench.switch_on("sms_send_information_enabled")
    give(bench, phone=PHONE)
    effect = bench.execute("send_sms_tool", hears="Could you text me the opening hours?")
    [event] = bench.events("send_sms_tool")
    assert (event["effect"], event["connector"]) == (str(effect.pk), "system")
    assert event["arguments"] == effect.arguments != {}
    assert (effect.state, effect.adapter) == ("done", "outbox")


@pytest.mark.requirement("N44")
def test_the_tools_event_is_logged_once_despite_retries(bench: Bench) -> None:
    """A reader of the log would take a second event for a second action."""
    bench.switch_on("booking_check_availability_enabled")
    [effect] = bench.plan("check_availability_tool")
    left_behind(bench, effect)
    bench.run()
    assert (bench.effect(effect).attempts, bench.events("check_availability_tool")) == (2, [])


def give(bench: Bench, **fields: str) -> None:
    with bench.tenant.tx():
        give_fields(bench.talk.reload().persona, fields)


@pytest.mark.requirement("N20", "N46")
@pytest.mark.parametrize(
    ("options", "told"),
    [({"message": "Mention the late bus."}, "Mention the late bus."), ({}, "I'll look at the bus.")],
)
def test_an_urgent_message_tool_tells_the_agent(options: dict[str, str], told: str, bench: Bench) -> None:
    """The next reply reads it as `prefix: text`, or the agent's own words if the tool has no text."""
    action = {"type": "send_urgent_message", "options": {"prefix": "Desk", **options}}
    bench.tool("remind", {**webhook("https://example.com/"), "action": action})
    assert bench.execute("remind", quote="I'll look at the bus.").state == "done"
    assert bench.urgent() == [f"Desk: {told}"]


@pytest.mark.requirement("T24")
def test_the_agent_speaks_proactively_at_most_three_times(bench: Bench, target: Target) -> None:
    target.answers(Answers(404))
    bench.tool("notify", webhook(target.url))
    for number in range(5):
        bench.execute("notify", quote=f"I'll notify crew {number}.")
    with bench.tenant.tx():
        assert Turn.objects.filter(conversation=bench.conversation, origin="urgent").count() <= 3
    assert len(bench.urgent()) == 5


def test_a_malformed_schema_executes_nothing(bench: Bench, target: Target) -> None:
    bench.tool("notify", webhook(target.url))
    [effect] = bench.plan("notify")
    hostile = {"type": "object", "properties": {"a": {"$ref": "http://169.254.169.254/"}}}
    with bench.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(definition=webhook(target.url, body=hostile))
    bench.run()
    assert (bench.effect(effect).state, target.log) == ("failed", [])


@pytest.mark.parametrize("broken", [{}, {"action": {"type": "send_webhook", "options": {}}}, {"action": 7}])
def test_an_invalid_definition_executes_nothing(broken: object, bench: Bench, target: Target) -> None:
    bench.tool("notify", webhook(target.url))
    [effect] = bench.plan("notify")
    with bench.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(definition=broken)
    bench.run()
    assert (bench.effect(effect).state, target.log) == ("failed", [])


def test_a_conversation_continues_if_the_customer_answers_the_goodbye(bench: Bench) -> None:
    [effect] = bench.plan("end_conversation_tool", quote="Goodbye!")
    bench.talk.say("One more thing")
    bench.run()
    found = bench.effect(effect)
    assert (found.state, found.error) == ("cancelled", SPOKEN_AGAIN)
    assert bench.talk.reload().status == "open"


@pytest.mark.requirement("N21", "N45")
def test_the_api_shows_the_complete_effect(api: Client, bench: Bench, target: Target) -> None:
    """The request without secrets, the response, and each after-action's status."""
    tell = {"type": "send_urgent_message", "options": {"prefix": "Crew says"}}
    bench.tool("notify", webhook(target.url, headers={"X-Api-Key": "k-1234567890"}, after_actions=[tell]))
    effect = bench.execute("notify")
    shown = api.get(f"/api/v1/effects/{effect.pk}").json()
    assert (shown["state"], shown["response"], shown["key"]) == ("done", '{"ok": true}', effect.effect_key)
    assert shown["request"]["headers"]["X-Api-Key"] == "••••"
    assert [(row["type"], row["state"]) for row in shown["after_actions"]] == [("send_urgent_message", "done")]


def test_effects_are_listed_by_state_and_conversation(api: Client, bench: Bench, target: Target) -> None:
    bench.tool("notify", webhook(target.url))
    effect = bench.execute("notify")
    there = f"/api/v1/effects?state=done&conversation={bench.conversation.pk}"
    assert [row["id"] for row in api.get(there).json()["results"]] == [str(effect.pk)]
    assert api.get("/api/v1/effects?state=held").json()["results"] == []
    assert api.get("/api/v1/effects?state=over").status_code == 400


def test_a_booking_interrupted_while_sending_is_completed(bench: Bench, target: Target) -> None:
    """It resumes regardless of what else was promised meanwhile."""
    bench.tool("notify", webhook(target.url, delivery="idempotent"))
    [first, second] = [*bench.plan("notify"), *bench.plan("notify")]
    left_behind(bench, first)
    with bench.tenant.tx():
        Effect.objects.filter(pk__in=[first.pk, second.pk]).update(repeat_key="same")
        Effect.objects.filter(pk=second.pk).update(state=EffectState.DONE, started_at=Now())
    bench.run()
    assert bench.effect(first).state == "done"


@pytest.mark.parametrize(
    ("delivery", "is_begun", "state"),
    [("once", True, "unknown"), ("once", False, "failed"), ("idempotent", True, "unknown")],
)
def test_a_permanently_failed_job_leaves_the_effect_to_staff(
    delivery: str, is_begun: bool, state: str, bench: Bench, target: Target
) -> None:
    """Workers died five times; what has begun may have happened."""
    tell = {"type": "send_urgent_message", "options": {"prefix": "Crew says"}}
    bench.tool("notify", webhook(target.url, delivery=delivery, after_actions=[tell]))
    [effect] = bench.plan("notify")
    if is_begun:
        left_behind(bench, effect)
    [job] = claims.claim([lane_of("effect")], limit=1)
    fail_job(job, reason="The worker that ran this died 5 times in a row.")
    assert (bench.effect(effect).state, len(bench.urgent())) == (state, 1)
    assert "died" not in bench.urgent()[0]


def test_the_agent_is_told_the_end_if_the_after_actions_fail_permanently(bench: Bench, target: Target) -> None:
    bench.tool("notify", webhook(target.url))
    [effect] = bench.plan("notify")
    with bench.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(state=EffectState.DONE, told="It was done.")
        AfterAction.objects.create(effect=effect, index=0, type="send_urgent_message")
    [job] = claims.claim([lane_of("effect")], limit=1)
    fail_job(job, reason="The worker died.")
    assert bench.urgent() == ["It was done."]
    assert [row.state for row in bench.effect(effect).after_actions.all()] == ["failed"]


TELL = {"type": "send_urgent_message", "options": {"prefix": "Crew says"}}


@pytest.mark.requirement("T22", "T24")
@pytest.mark.parametrize(
    ("answer", "after", "outcome", "told"),
    [
        (Answers(404), [TELL], "failure", "notify was not done: The endpoint refused it (404)."),
        (Answers(body="on the way"), [TELL], "result", "Crew says: on the way"),
        (Answers(body="on the way"), [], "result", "on the way"),
    ],
)
def test_the_agent_is_told_the_end_of_an_awaited_effect_once(
    answer: Answers, after: list[object], outcome: str, told: str, bench: Bench, target: Target
) -> None:
    """However it ends and whatever tells it."""
    target.answers(answer)
    bench.tool("notify", webhook(target.url, after_actions=after))
    [effect] = bench.plan("notify")
    await_end(bench, effect)
    bench.run()
    assert (ends(bench, effect), bench.urgent()) == (outcome, [told])


@pytest.mark.parametrize(("status", "state"), [(200, "kept"), (404, "broken"), (500, "open")])
def test_a_promise_is_settled_with_its_effect(status: int, state: str, bench: Bench, target: Target) -> None:
    """In the commit that ends the effect."""
    target.answers(Answers(status))
    bench.tool("notify", webhook(target.url))
    effect = bench.execute("notify")
    with bench.tenant.tx():
        assert effect.promises.get().state == state


@pytest.mark.requirement("T24")
def test_a_wait_for_a_held_repeat_ends_at_once(bench: Bench, target: Target) -> None:
    bench.tool("notify", webhook(target.url))
    bench.execute("notify")
    [repeat] = bench.plan("notify")
    await_end(bench, repeat)
    bench.run()
    assert ends(bench, repeat) == "result"
    assert bench.urgent()[-1].startswith("It was done already")


def await_end(bench: Bench, effect: Effect) -> None:
    """Open a wait for the effect, as the tool caller's commit does."""
    with bench.tenant.tx(), open_log(bench.conversation.pk) as log:
        open_wait(log, reason=effect.tool, seconds=30, effect_id=effect.pk)


def ends(bench: Bench, effect: Effect) -> str:
    with bench.tenant.tx():
        return Wait.objects.get(effect_id=effect.pk).outcome


@pytest.mark.requirement("T24")
def test_a_telling_tool_tells_its_result_without_a_wait(bench: Bench) -> None:
    bench.switch_on("booking_check_availability_enabled")
    bench.execute("check_availability_tool", hears="A table for two on 27 November 2026 at 19:00, please.")
    assert len(bench.urgent()) == 1
