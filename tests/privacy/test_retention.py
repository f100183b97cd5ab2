"""The nightly deletion of old records, in small transactions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conversations.models import Conversation, Event, Message
from conversations.turns.services import post_message, start_conversation
from jobs.models import Job, ModelCall, State
from jobs.sweep import sweep
from privacy.models import RetentionRun
from privacy.retention import batches
from privacy.retention import sweep as retention
from projects.models.attribute import Attribute
from projects.records.attributes import WrongValue, set_attribute
from tests.api.conftest import error_of
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant
from tests.processes import ForkServer, until
from todos.models import Todo
from tools.models import Booking, Effect, EffectState, Promise, PromiseState, Resource

SETTING = "project_attributes_setting_retention_{}_days"


@pytest.fixture(autouse=True)
def _looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_looked_at", 0.0)
    monkeypatch.setattr(retention, "LOOK_SECONDS", 0.0)


def begin(tenant: Tenant, *, age_days: int, words: str = "Hello") -> Conversation:
    """A conversation that has been quiet for so long, with one message and its turn."""
    with tenant.tx():
        made = start_conversation(tenant.project, channel="chat", external_id="guest", known={}, metadata={})
        post_message(made.pk, words)
        Job.objects.filter(subject_id=made.pk).update(state=State.DONE, finished_at=past(age_days))
    bypass_rls("update conversations_conversation set updated_at = %s where id = %s", past(age_days), made.pk)
    return made


def past(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)


def called(tenant: Tenant, conversation: Conversation | None = None, *, age_days: int) -> ModelCall:
    with tenant.tx():
        return ModelCall.objects.create(
            project=tenant.project,
            subject_id=conversation.pk if conversation else None,
            skill="reply",
            model="m",
            host="h",
            messages=[{"role": "user", "content": "secret words"}],
            output="an answer",
            input_tokens=900,
            cost="0.25",
            started_at=past(age_days),
            total_ms=1,
        )


def set_days(tenant: Tenant, kind: str, days: Any) -> None:
    with tenant.tx():
        set_attribute(tenant.project, SETTING.format(kind), days)


def run_night(tenant: Tenant) -> RetentionRun:
    """Make the project due, and sweep until its run has ended."""
    sweep()
    with tenant.tx():
        RetentionRun.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    for _ in range(50):
        sweep()
        with tenant.tx():
            run = RetentionRun.objects.get(project=tenant.project)
        if run.finished_at is not None and run.due_at > timezone.now():
            return run
    raise AssertionError(f"The run has not ended: {run.stage}")


def test_prompts_are_emptied_after_thirty_days_and_their_cost_stays(tenant: Tenant) -> None:
    old, new = called(tenant, age_days=31), called(tenant, age_days=29)
    run = run_night(tenant)
    with tenant.tx():
        emptied, kept = ModelCall.objects.get(pk=old.pk), ModelCall.objects.get(pk=new.pk)
        assert (emptied.messages, emptied.output, emptied.input_tokens, str(emptied.cost)) == ([], "", 900, "0.250000")
        assert kept.output == "an answer"
    assert run.removed["prompts"] == 1


def test_transcripts_are_kept_until_told_otherwise(tenant: Tenant) -> None:
    begin(tenant, age_days=3000)
    run_night(tenant)
    with tenant.tx():
        assert Message.objects.count() == 1


def test_old_transcripts_are_deleted_with_everything_in_them(tenant: Tenant) -> None:
    old, new = begin(tenant, age_days=91), begin(tenant, age_days=89)
    call = called(tenant, old, age_days=1)
    set_days(tenant, "transcripts", 90)
    run = run_night(tenant)
    with tenant.tx():
        assert [one.pk for one in Conversation.objects.all()] == [new.pk]
        assert {one.conversation_id for one in Message.objects.all()} == {new.pk}
        assert ModelCall.objects.get(pk=call.pk).messages == []
        assert not Job.objects.filter(subject_id=old.pk).exists()
    assert run.removed["transcripts"] == 1


def test_a_booking_and_a_todo_outlive_their_conversation(tenant: Tenant) -> None:
    old = begin(tenant, age_days=91)
    starts = timezone.now() + timedelta(days=8)
    with tenant.tx():
        theirs = {"conversation_id": old.pk, "persona_id": old.persona_id}
        Booking.objects.create(
            **theirs,
            project_id=tenant.project.pk,
            resource=Resource.objects.first(),
            code="ABC",
            name="Ada",
            starts_at=starts,
            ends_at=starts + timedelta(hours=1),
        )
        done = {"source": "person", "status": "completed", "expires_at": starts}
        Todo.objects.create(**theirs, **done, project=tenant.project, description="Call back")
    set_days(tenant, "transcripts", 90)
    run_night(tenant)
    with tenant.tx():
        assert not Conversation.objects.exists()
        for kept in (Booking.objects.get(), Todo.objects.get()):
            assert (kept.conversation_id, kept.persona_id) == (None, old.persona_id)
        assert (Booking.objects.get().name, Booking.objects.get().state) == ("Ada", "confirmed")


@pytest.mark.parametrize("opened", ["promise", "todo", "job", "effect"])
def test_a_conversation_with_something_open_stays(tenant: Tenant, opened: str) -> None:
    old = begin(tenant, age_days=91)
    leave_open(tenant, old, opened)
    set_days(tenant, "transcripts", 90)
    run_night(tenant)
    with tenant.tx():
        assert Conversation.objects.filter(pk=old.pk).exists()


def leave_open(tenant: Tenant, conversation: Conversation, opened: str) -> None:
    with tenant.tx():
        turn, message = conversation.turns.get(), conversation.messages.get()
        common = {"project_id": tenant.project.pk, "conversation_id": conversation.pk}
        if opened == "promise":
            due = {"due_at": timezone.now() + timedelta(days=1), "state": PromiseState.OPEN, "owner": "staff"}
            Promise.objects.create(**common, **due, turn_id=turn.pk, message_id=message.pk, quote="I'll call")
        elif opened == "todo":
            expires = timezone.now() + timedelta(days=1)
            Todo.objects.create(**common, description="x", source="person", expires_at=expires)
        elif opened == "job":
            Job.objects.filter(subject_id=conversation.pk).update(
                state=State.QUEUED, run_after=timezone.now() + timedelta(days=1)
            )
        else:
            Effect.objects.create(
                **common,
                effect_key="k",
                tool="t",
                kind="k",
                delivery="once",
                definition={},
                state=EffectState.SENDING,
                accepted_at=timezone.now(),
            )


def test_a_conversation_that_was_open_is_deleted_another_night(tenant: Tenant) -> None:
    old = begin(tenant, age_days=91)
    leave_open(tenant, old, "todo")
    set_days(tenant, "transcripts", 90)
    run_night(tenant)
    with tenant.tx():
        Todo.objects.update(status="completed")
    run_night(tenant)
    with tenant.tx():
        assert not Conversation.objects.exists()


def test_events_of_quiet_conversations_are_deleted_and_numbers_go_on(tenant: Tenant) -> None:
    old, new = begin(tenant, age_days=400), begin(tenant, age_days=300)
    with tenant.tx():
        last = Conversation.objects.get(pk=old.pk).last_event
    run_night(tenant)
    with tenant.tx():
        assert {one.conversation_id for one in Event.objects.all()} == {new.pk}
        post_message(old.pk, "It's me again")
        assert Event.objects.filter(conversation=old).order_by("seq").first().seq == last + 1


def test_old_effects_lose_their_content_and_stay_in_their_conversation(tenant: Tenant) -> None:
    conversation = begin(tenant, age_days=1)
    values = {"effect_key": "k", "tool": "send_sms", "kind": "sms", "delivery": "once", "definition": {}}
    with tenant.tx():
        effect = Effect.objects.create(
            project_id=tenant.project.pk,
            conversation_id=conversation.pk,
            recipient="39347",
            arguments={"a": 1},
            state=EffectState.DONE,
            **values,
        )
        Effect.objects.update(created_at=past(31))
    set_days(tenant, "effects", 30)
    run_night(tenant)
    with tenant.tx():
        found = Effect.objects.get(pk=effect.pk)
        assert (found.recipient, found.arguments, found.state) == ("", {}, EffectState.DONE)
        assert found.conversation_id == conversation.pk


def test_finished_jobs_go_after_two_weeks_and_failed_ones_stay(tenant: Tenant) -> None:
    """Their model calls stay with their cost."""
    old = begin(tenant, age_days=15)
    begin(tenant, age_days=13)
    # An id tells when its row was made.
    bypass_rls("update jobs_job set id = '01890000-0000-7000-8000-000000000000' where subject_id = %s", old.pk)
    with tenant.tx():
        [job] = Job.objects.filter(subject_id=old.pk)
        call = called(tenant, age_days=1)
        ModelCall.objects.filter(pk=call.pk).update(job=job)
        Job.objects.create(**failed(tenant, old))
    run_night(tenant)
    with tenant.tx():
        assert sorted(Job.objects.values_list("state", flat=True)) == ["done", "failed"]
        assert ModelCall.objects.get(pk=call.pk).job_id is None


def failed(tenant: Tenant, conversation: Conversation) -> dict[str, Any]:
    then = past(20)
    return {
        "project": tenant.project,
        "lane": "observer",
        "subject_id": conversation.pk,
        "ordinal": 1,
        "key": "f",
        "state": State.FAILED,
        "fair_at": then,
        "run_after": then,
        "created_at": then,
        "finished_at": then,
    }


def test_a_night_is_worked_through_in_small_transactions(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "ROWS", 3)
    monkeypatch.setattr(retention, "SECONDS_PER_SWEEP", 0.0001)
    for _ in range(10):
        called(tenant, age_days=40)
    sweep()
    with tenant.tx():
        RetentionRun.objects.update(due_at=timezone.now() - timedelta(seconds=1), stage="prompts", started_at=past(0))
    emptied = []
    for _ in range(6):
        sweep()
        with tenant.tx():
            emptied.append(ModelCall.objects.filter(output="").count())
    assert emptied[:4] == [3, 6, 9, 10]


def test_a_later_night_does_not_read_what_earlier_ones_have(tenant: Tenant) -> None:
    called(tenant, age_days=40)
    first = run_night(tenant)
    called(tenant, age_days=31)
    second = run_night(tenant)
    assert (first.removed["prompts"], second.removed["prompts"]) == (1, 1)


def test_another_project_keeps_its_own_records(tenant: Tenant, stranger: Tenant) -> None:
    called(tenant, age_days=40)
    theirs = called(stranger, age_days=40)
    set_days(stranger, "prompts", "forever")
    run_night(tenant)
    run_night(stranger)
    with stranger.tx():
        assert ModelCall.objects.get(pk=theirs.pk).output == "an answer"


def test_an_organizations_setting_holds_for_its_projects(tenant: Tenant) -> None:
    call = called(tenant, age_days=20)
    with tenant.tx():
        Attribute.objects.create(project=None, key=SETTING.format("prompts"), type="json", value=7)
    run_night(tenant)
    with tenant.tx():
        assert ModelCall.objects.get(pk=call.pk).output == ""


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "30", "always", None, 10**6])
def test_a_wrong_number_of_days_is_refused(tenant: Tenant, value: Any) -> None:
    with tenant.tx(), pytest.raises(WrongValue, match="must be a whole number of days from 1"):
        set_attribute(tenant.project, SETTING.format("prompts"), value)


def test_the_api_says_what_is_wrong(tenant: Tenant, api: Client) -> None:
    key = SETTING.format("jobs")
    response = api.put(f"/api/v1/attributes/{key}", {"value": 1}, content_type="application/json")
    error = error_of(response, status=422)
    assert f'{key} must be a whole number of days from 2, like 30, or "forever".' in error["message"]


def test_the_next_night_is_three_oclock_in_the_business(tenant: Tenant) -> None:
    with tenant.tx():
        project = type(tenant.project).objects.select_related("agent_version").get(pk=tenant.project.pk)
        noon = datetime(2026, 7, 1, 10, tzinfo=UTC)
        assert retention.next_night(project, noon) == datetime(2026, 7, 2, 1, tzinfo=UTC)
        assert retention.next_night(project, datetime(2026, 7, 1, 0, 30, tzinfo=UTC)) == datetime(
            2026, 7, 1, 1, tzinfo=UTC
        )


def test_a_projects_trouble_is_put_off_and_named(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    called(tenant, age_days=40)

    def fail(*_: object) -> None:
        raise RuntimeError("secret words")

    sweep()
    with tenant.tx():
        RetentionRun.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    monkeypatch.setattr(retention, "_step", fail)
    sweep()
    with tenant.tx():
        run = RetentionRun.objects.get()
        assert (run.error, run.due_at > timezone.now()) == ("RuntimeError", True)


@pytest.mark.short_leases
@pytest.mark.parametrize("label", ["retention.pre_commit", "retention.step"])
def test_a_night_survives_the_death_of_its_worker(tenant: Tenant, processes: ForkServer, label: str) -> None:
    call = called(tenant, age_days=40)
    sweep()
    with tenant.tx():
        RetentionRun.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    processes.worker(crash_at=f"{label}:2").wait()
    processes.worker()

    def is_over() -> bool:
        with tenant.tx():
            return RetentionRun.objects.get().finished_at is not None

    until(is_over, what="the end of the night's work")
    with tenant.tx():
        assert ModelCall.objects.get(pk=call.pk).output == ""
