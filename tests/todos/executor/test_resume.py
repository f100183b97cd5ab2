"""Runs that continue after a pause, a callback, or a decision of staff."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from console.todos.run_log import runs_of
from conversations.models import PersonaField
from conversations.tool_runs.effects.resolution import release, resolve, store_callback
from conversations.turns.services import give_fields
from jobs.errors import WrongState
from jobs.models import Job, State
from projects.common.presenters import stamp
from projects.records.attributes import set_attribute
from tests.conversations.effects.target import Answers, Target
from tests.todos.executor.conftest import LETTER, NOTIFY, Runs
from todos.api.presenters import todo_detail
from todos.approvals.job_keys import next_attempts
from todos.approvals.manual_completion import take_todo
from todos.content.lifecycle import Actor
from todos.models import Approval, Todo
from todos.services import cancel_todo, review_again
from tools.engine.execution.callback import callback_token
from tools.engine.execution.outcome_policy import MAX_ATTEMPTS
from tools.engine.function_calling.results import UNKNOWN
from tools.models import Effect
from tools.services.bookings.resources import plant_resources

CALLER = "send_email_to_caller"
CALLED = {"what": "Hello"}
HELLO = {"body": CALLED}
SETTING = "project_attributes_setting_"
SEEN = {"type": "set_persona_attribute", "options": {"attribute": "crew", "path": "crew"}}


def answer(runs: Runs, effect: Effect, body: bytes = b'{"crew": "came"}') -> bool:
    return runs.do(store_callback, effect.pk, token=callback_token(effect.pk), body=body)


def says(runs: Runs, effect: Effect, *, happened: bool) -> None:
    runs.do(resolve, runs.tenant.project, effect.pk, happened=happened, by=runs.boss.pk)


@pytest.fixture
def unclear(runs: Runs, target: Target) -> Todo:
    """A frozen todo whose request was cut off, so that it may have happened."""
    target.answers(Answers(drops=True), Answers())
    runs.own_tool(target.url)
    return runs.execute(runs.frozen(NOTIFY, HELLO))


def test_an_unsent_effect_is_retried_under_the_same_key(runs: Runs, target: Target) -> None:
    """By another job, each time after a pause; the model is not called in between."""
    target.answers(Answers(status=503), Answers(status=503), Answers())
    runs.own_tool(target.url, delivery="idempotent")
    runs.calls_tool(NOTIFY, CALLED)
    runs.says()
    todo = runs.execute(runs.todo(runs.kind(NOTIFY)), hurry=False)
    assert (todo.status, len(runs.model.requests("execute"))) == ("in_progress", 1)
    runs.make_due()
    assert (runs.run(todo, hurry=False).status, len(target.log)) == ("in_progress", 2)
    todo = runs.run(todo)
    assert (todo.status, len(set(target.keys())), len(target.log)) == ("completed", 1, 3)


@pytest.mark.parametrize(
    "swap",
    [
        {"arguments": {"what": "Something else"}},
        {"tool": "tell_nobody"},
        {"definition": {"description": "Another tool.", "action": {"type": "send_urgent_message"}}},
    ],
    ids=["arguments", "tool", "definition"],
)
def test_a_plan_changed_in_the_ledger_is_not_executed(swap: dict[str, Any], runs: Runs, target: Target) -> None:
    target.answers(Answers(status=429, headers={"Retry-After": "60"}), Answers())
    runs.own_tool(target.url, delivery="idempotent")
    runs.calls_tool(NOTIFY, CALLED)
    todo = runs.execute(runs.todo(runs.kind(NOTIFY)), hurry=False)
    with runs.tenant.tx():
        Effect.objects.update(**swap)
    todo = runs.run(todo)
    assert (todo.status, len(target.log), runs.effects(todo)[0].state) == ("pending_review", 1, "cancelled")
    assert f"The plan for {NOTIFY} has changed" in todo.reason


def test_one_query_finds_all_postponed_effects_of_a_step(
    runs: Runs, target: Target, django_assert_max_num_queries: Any
) -> None:
    target.answers(*[Answers(status=503)] * 5)
    runs.own_tool(target.url, delivery="idempotent")
    calls = [{"name": NOTIFY, "arguments": {"what": str(number)}} for number in range(5)]
    runs.model.script("execute", tool_calls=calls)
    effects = runs.effects(todo := runs.execute(runs.todo(runs.kind(NOTIFY)), hurry=False))
    with runs.tenant.tx():
        [approval] = Approval.objects.filter(todo=todo)
        with django_assert_max_num_queries(1):
            waiting = next_attempts(approval, effects)
    assert (len(effects), set(waiting)) == (5, {effect.pk for effect in effects})


def test_a_call_that_is_retried_says_when_on_the_page_and_in_the_api(runs: Runs, target: Target) -> None:
    target.answers(Answers(status=503, headers={"Retry-After": "600"}), Answers())
    runs.own_tool(target.url, delivery="idempotent")
    todo = runs.execute(runs.frozen(NOTIFY, HELLO), hurry=False)
    with runs.tenant.tx():
        due = Job.objects.get(key__contains=":attempt:").run_after
        [[shown]] = [step["calls"] for step in todo_detail(todo)["steps"]]
        [[call]] = [step.calls for run in runs_of(todo, tools={}, zone="UTC") for step in run.steps]
    assert shown["next_attempt_at"] == stamp(due)
    assert call.next_attempt
    assert call.next_attempt.at == due
    assert "503" in call.result


def test_a_call_that_is_not_retried_any_more_has_no_next_attempt(runs: Runs, target: Target) -> None:
    target.answers(Answers(status=503), Answers())
    runs.own_tool(target.url, delivery="idempotent")
    todo = runs.execute(runs.frozen(NOTIFY, HELLO))
    with runs.tenant.tx():
        [[shown]] = [step["calls"] for step in todo_detail(todo)["steps"]]
    assert (shown["next_attempt_at"], todo.status) == (None, "completed")


def test_no_other_job_makes_an_attempt_before_it_is_due(runs: Runs, target: Target) -> None:
    target.answers(Answers(status=503), Answers())
    runs.own_tool(target.url, delivery="idempotent")
    todo = runs.execute(runs.frozen(NOTIFY, HELLO), hurry=False)
    with runs.tenant.tx():
        Job.objects.filter(lane="todo", state=State.DONE).update(state=State.QUEUED)
    runs.run(todo, hurry=False)
    assert len(target.log) == 1


@pytest.mark.parametrize(
    ("delivery", "attempts", "status", "sent"),
    [
        ("once", 1, "needs_attention", 1),
        ("idempotent", MAX_ATTEMPTS - 1, "completed", 2),
        ("idempotent", MAX_ATTEMPTS, "needs_attention", 1),
    ],
)
def test_effects_of_dead_workers_become_unknown_or_use_up_their_attempts(
    delivery: str, attempts: int, status: str, sent: int, runs: Runs, target: Target
) -> None:
    target.answers(Answers(status=429), Answers())
    runs.own_tool(target.url, delivery=delivery)
    todo = runs.execute(runs.frozen(NOTIFY, HELLO), hurry=False)
    with runs.tenant.tx():
        Effect.objects.update(state="sending", attempts=attempts)
    assert (runs.run(todo).status, len(target.log)) == (status, sent)


def test_a_run_waits_for_a_callback_without_a_job(runs: Runs, target: Target) -> None:
    """The todo stays in progress; the callback queues another job."""
    target.answers(Answers(status=202))
    runs.own_tool(target.url, callback=True)
    runs.calls_tool(NOTIFY, CALLED)
    runs.says()
    todo = runs.execute(runs.todo(runs.kind(NOTIFY)))
    [effect] = runs.effects(todo)
    assert (todo.status, effect.state, len(runs.steps(todo))) == ("in_progress", "sending", 1)
    assert answer(runs, effect)
    todo = runs.run(todo)
    assert (todo.status, runs.result(todo)) == ("completed", '{"crew": "came"}')
    assert [len(target.log), len(runs.steps(todo))] == [1, 2]


def test_a_second_callback_changes_nothing(runs: Runs, target: Target) -> None:
    target.answers(Answers(status=202))
    runs.own_tool(target.url, callback=True)
    todo = runs.execute(runs.frozen(NOTIFY, HELLO))
    [effect] = runs.effects(todo)
    answer(runs, effect)
    answer(runs, effect, b'{"error": "never"}')
    todo = runs.run(todo)
    assert (todo.status, runs.effects(todo)[0].state) == ("completed", "done")


def test_a_missing_callback_makes_the_outcome_unknown(runs: Runs, target: Target) -> None:
    """A late callback still completes the todo."""
    target.answers(Answers(status=202))
    runs.own_tool(target.url, callback=True)
    todo = runs.execute(runs.frozen(NOTIFY, HELLO))
    runs.hurry_callbacks()
    todo = runs.run(todo)
    [effect] = runs.effects(todo)
    assert (todo.status, effect.state) == ("needs_attention", "unknown")
    answer(runs, effect)
    assert runs.now(todo).status == "completed"


def test_an_unknown_outcome_needs_attention(unclear: Todo, runs: Runs) -> None:
    assert (unclear.status, runs.effects(unclear)[0].state) == ("needs_attention", "unknown")
    assert f"We don't know whether {NOTIFY} went through" in unclear.reason


def test_an_effect_that_may_have_happened_never_fails(runs: Runs, target: Target) -> None:
    """The first attempt was cut off, the second refused."""
    target.answers(Answers(drops=True), Answers(status=400))
    runs.own_tool(target.url, delivery="idempotent")
    todo = runs.execute(runs.frozen(NOTIFY, HELLO))
    assert (todo.status, runs.effects(todo)[0].state, len(target.log)) == ("needs_attention", "unknown", 2)


def test_a_running_effect_of_a_cancelled_todo_becomes_unknown(runs: Runs, target: Target) -> None:
    target.answers(Answers(status=429))
    runs.own_tool(target.url, delivery="idempotent")
    todo = runs.execute(runs.frozen(NOTIFY, HELLO), hurry=False)
    with runs.tenant.tx():
        Effect.objects.update(state="sending")
    runs.do(cancel_todo, todo.pk, actor=Actor("Nello"))
    runs.run(todo)
    assert (runs.effects(todo)[0].state, runs.result(todo), len(target.log)) == ("unknown", UNKNOWN, 1)


def test_an_unknown_outcome_blocks_taking_the_todo_on(unclear: Todo, runs: Runs) -> None:
    with pytest.raises(WrongState, match=f"We don't know whether {NOTIFY} went through"):
        runs.do(take_todo, unclear.pk, **runs.seen(unclear), actor=Actor("Nello"), member=runs.boss)


def test_staff_confirms_that_an_effect_happened(unclear: Todo, runs: Runs, target: Target) -> None:
    says(runs, runs.effects(unclear)[0], happened=True)
    assert (runs.now(unclear).status, len(target.log)) == ("completed", 1)
    assert runs.result(unclear) == "A colleague has checked it: it was done."


def test_an_effect_that_staff_says_did_not_happen_is_executed_again(unclear: Todo, runs: Runs, target: Target) -> None:
    """Under the same key."""
    target.answers(Answers(drops=True), Answers())
    for status in ("needs_attention", "completed"):
        says(runs, runs.effects(unclear)[0], happened=False)
        assert runs.now(unclear).status == "in_progress"
        assert runs.run(unclear).status == status
    assert (len(target.log), len(set(target.keys()))) == (3, 1)


def test_the_remaining_open_outcomes_are_named_after_an_answer(runs: Runs, target: Target) -> None:
    target.answers(Answers(drops=True), Answers(status=400))
    runs.own_tool(target.url)
    runs.model.script("execute", tool_calls=[{"name": NOTIFY, "arguments": {"what": word}} for word in "ab"])
    runs.says()
    todo = runs.execute(runs.todo(runs.kind(NOTIFY)))
    says(runs, runs.effects(todo)[0], happened=True)
    todo = runs.now(todo)
    assert (todo.status, todo.reason.startswith(f"{NOTIFY} was not done")) == ("needs_attention", True)


def test_only_unknown_effects_can_be_resolved(runs: Runs) -> None:
    [effect] = runs.effects(runs.execute(runs.frozen()))
    with pytest.raises(WrongState, match="this one is done"):
        says(runs, effect, happened=False)


def test_resolving_an_effect_of_an_ended_todo_starts_nothing(unclear: Todo, runs: Runs, target: Target) -> None:
    [effect] = runs.effects(unclear)
    runs.do(review_again, unclear.pk, actor=Actor("Nello"))
    says(runs, effect, happened=False)
    runs.run(unclear)
    assert (runs.effects(unclear)[0].state, len(target.log)) == ("failed", 1)


def test_a_repeat_is_held_and_can_be_released(runs: Runs) -> None:
    """Two todos send the same text to the same customer."""
    runs.execute(runs.frozen())
    todo = runs.execute(runs.frozen())
    [effect] = runs.effects(todo)
    assert (todo.status, effect.state) == ("needs_attention", "held")
    runs.do(release, runs.tenant.project, effect.pk, by=runs.boss.pk)
    assert runs.run(todo).status == "completed"


def test_a_held_effect_is_not_released_while_its_todo_is_in_review(runs: Runs) -> None:
    runs.execute(runs.frozen())
    todo = runs.execute(runs.frozen())
    [effect] = runs.effects(todo)
    runs.do(review_again, todo.pk, actor=Actor("Nello"))
    with pytest.raises(WrongState, match="Review the todo again"):
        runs.do(release, runs.tenant.project, effect.pk, by=runs.boss.pk)
    assert runs.effects(todo)[0].state == "held"


def test_a_repeat_is_held_although_another_message_was_sent_in_between(runs: Runs) -> None:
    letters = [runs.execute(runs.frozen(arguments={**LETTER, "body": body})) for body in ("One.", "Two.", "One.")]
    assert [runs.effects(todo)[0].state for todo in letters] == ["done", "done", "held"]


def test_the_same_message_after_a_while_is_no_repeat(runs: Runs) -> None:
    """In another approved todo."""
    runs.execute(runs.frozen())
    with runs.tenant.tx():
        Effect.objects.update(started_at=F("started_at") - timedelta(minutes=11))
    assert runs.execute(runs.frozen()).status == "completed"


@pytest.mark.parametrize(("hours", "status"), [(23, "needs_attention"), (25, "completed")])
def test_the_same_booking_counts_as_a_repeat_for_a_day(hours: int, status: str, runs: Runs) -> None:
    day = timezone.now().date() + timedelta(days=7)
    friday = day + timedelta(days=(4 - day.weekday()) % 7)
    agreed = {"date": friday.isoformat(), "time": "19:00", "party_size": 2}
    with runs.tenant.tx():
        set_attribute(runs.tenant.project, f"{SETTING}booking_enabled", True)
        plant_resources(
            runs.tenant.project, [{"name": name, "kind": "table", "capacity": 2, "slot_minutes": 90} for name in "AB"]
        )
    assert runs.execute(runs.frozen("create_booking_tool", agreed)).status == "completed"
    with runs.tenant.tx():
        Effect.objects.update(started_at=F("started_at") - timedelta(hours=hours))
    assert runs.execute(runs.frozen("create_booking_tool", agreed)).status == status


def test_different_messages_to_one_customer_are_no_repeat(runs: Runs) -> None:
    runs.execute(runs.frozen())
    assert runs.execute(runs.frozen(arguments={**LETTER, "body": "Something else."})).status == "completed"


@pytest.mark.parametrize(("ticked", "status"), [(False, "needs_attention"), (True, "completed")])
def test_an_effect_of_an_earlier_run_is_repeated_if_staff_selects_it(ticked: bool, status: str, runs: Runs) -> None:
    runs.calls_tool(CALLER)
    runs.calls_tool("nothing", {})
    runs.model.script("execute", times=1, fault="content_filter")
    todo = runs.execute(runs.todo(runs.kind(CALLER)))
    assert todo.status == "failed"
    done = [effect.pk for effect in runs.effects(todo)]
    runs.do(review_again, todo.pk, actor=Actor("Nello"), repeats=done if ticked else [])
    runs.calls_tool(CALLER, {**LETTER, "body": "The same in other words."})
    runs.says()
    assert runs.execute(runs.now(todo)).status == status


def test_a_failed_effect_of_an_earlier_run_is_retried(runs: Runs, target: Target) -> None:
    target.answers(Answers(status=400), Answers())
    runs.own_tool(target.url)
    todo = runs.execute(runs.frozen(NOTIFY, HELLO))
    runs.do(review_again, todo.pk, actor=Actor("Nello"))
    assert (todo.status, runs.execute(runs.now(todo)).status) == ("failed", "completed")


def test_two_messages_of_one_run_are_no_repeat_of_each_other(runs: Runs) -> None:
    """Only effects of earlier runs are compared by recipient alone."""
    runs.model.script("execute", times=1, fault="content_filter")
    todo = runs.execute(runs.todo(runs.kind(CALLER)))
    runs.do(review_again, todo.pk, actor=Actor("Nello"))
    runs.calls_tool(CALLER)
    runs.calls_tool(CALLER, {**LETTER, "body": "Something else."})
    runs.says()
    assert runs.execute(runs.now(todo)).status == "completed"


def test_selecting_one_effect_does_not_release_others(runs: Runs, target: Target) -> None:
    runs.own_tool(target.url)
    runs.calls_tool(CALLER)
    runs.calls_tool(NOTIFY, CALLED)
    runs.model.script("execute", times=1, fault="content_filter")
    todo = runs.execute(runs.todo(runs.kind(CALLER, NOTIFY)))
    _, told = runs.effects(todo)
    runs.do(review_again, todo.pk, actor=Actor("Nello"), repeats=[told.pk])
    runs.calls_tool(CALLER)
    runs.calls_tool(NOTIFY, CALLED)
    runs.says()
    todo = runs.execute(runs.now(todo))
    assert [effect.state for effect in runs.effects(todo)] == ["done", "done", "held", "done"]
    assert (todo.status, len(target.log)) == ("needs_attention", 2)


@pytest.mark.parametrize(("ticked", "status"), [(False, "needs_attention"), (True, "completed")])
def test_a_held_effect_runs_if_staff_selects_it(ticked: bool, status: str, runs: Runs) -> None:
    runs.execute(runs.frozen())
    todo = runs.execute(runs.frozen())
    [held] = runs.effects(todo)
    runs.do(review_again, todo.pk, actor=Actor("Nello"), repeats=[held.pk] if ticked else [])
    assert runs.execute(runs.now(todo)).status == status


@pytest.mark.requirement("N47")
def test_after_actions_change_the_conversation_in_its_own_lane(runs: Runs, target: Target) -> None:
    target.answers(Answers(body='{"crew": "red"}'))
    runs.own_tool(target.url, after_actions=[SEEN])
    todo = runs.execute(runs.frozen(NOTIFY, HELLO))
    runs.run(todo, lane="effect")
    with runs.tenant.tx():
        assert PersonaField.objects.get(persona_id=todo.persona_id, key="crew").value == "red"


def after(runs: Runs, todo: Todo) -> list[tuple[str, str]]:
    """The results of the after-actions of a todo's one effect, once their lane has run."""
    runs.run(todo, lane="effect")
    with runs.tenant.tx():
        return [(row.state, row.error or row.value) for row in runs.effects(todo)[0].after_actions.order_by("index")]


@pytest.mark.requirement("N47")
def test_without_a_conversation_after_actions_set_customer_attributes_only(runs: Runs, target: Target) -> None:
    target.answers(Answers(body='{"crew": "red"}'))
    runs.own_tool(target.url, after_actions=[{"type": "send_urgent_message"}, SEEN])
    todo = runs.execute(runs.frozen(NOTIFY, HELLO, conversation_id=None))
    assert after(runs, todo) == [("skipped", "The todo has no conversation."), ("done", "red")]
    with runs.tenant.tx():
        assert PersonaField.objects.get(persona_id=todo.persona_id, key="crew").value == "red"


@pytest.mark.requirement("N47")
def test_a_model_extracts_values_from_a_result_without_a_conversation(runs: Runs, target: Target) -> None:
    target.answers(Answers(body='{"crew": "red"}'))
    runs.own_tool(target.url, after_actions=[{**SEEN, "options": {"attribute": "crew", "instruction": "The colour."}}])
    runs.model.script("arguments", json={"value": "rot"})
    assert after(runs, runs.execute(runs.frozen(NOTIFY, HELLO, conversation_id=None))) == [("done", "rot")]


@pytest.mark.requirement("N47")
def test_without_a_customer_no_after_action_is_queued(runs: Runs, target: Target) -> None:
    runs.own_tool(target.url, after_actions=[SEEN])
    todo = runs.execute(runs.frozen(NOTIFY, HELLO, conversation_id=None, persona_id=None))
    assert after(runs, todo) == [("skipped", "The todo has no customer.")]
    with runs.tenant.tx():
        assert not Job.objects.filter(lane="effect").exists()


@pytest.mark.requirement("N47")
def test_an_invalid_value_fails_with_an_error(runs: Runs, target: Target) -> None:
    target.answers(Answers(body='{"crew": "\\u202e"}'))
    runs.own_tool(target.url, after_actions=[SEEN])
    [(state, error)] = after(runs, runs.execute(runs.frozen(NOTIFY, HELLO, conversation_id=None)))
    assert (state, error) == ("failed", "crew would have 0 characters; 1 to 500 are kept.")


def test_a_pending_callback_of_an_earlier_run_does_not_delay_a_later_run(runs: Runs, target: Target) -> None:
    target.answers(Answers(status=202))
    runs.own_tool(target.url, callback=True)
    target.on_request = lambda _: runs.do(give_fields, runs.conversation.persona, {"email": "ada@other.example"})
    hello = {"name": NOTIFY, "arguments": CALLED}
    runs.model.script("execute", tool_calls=[hello, {"name": CALLER, "arguments": LETTER}])
    todo = runs.execute(runs.todo(runs.kind(NOTIFY, CALLER)))
    assert (todo.status, [one.state for one in runs.effects(todo)]) == ("pending_review", ["sending", "cancelled"])
    runs.calls_tool(CALLER)
    runs.says()
    assert runs.execute(todo, hurry=False).status == "completed"
