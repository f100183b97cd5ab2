"""A run goes on: after a pause, after a tool that answers later, and after what staff says."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from conversations.models import PersonaField
from conversations.tool_runs.effects.resolution import release, resolve, store_callback
from conversations.turns.services import give_fields
from jobs.errors import WrongState
from jobs.models import Job, State
from projects.records.attributes import set_attribute
from tests.conversations.effects.target import Answers, Target
from tests.todos.executor.conftest import LETTER, NOTIFY, Runs
from todos.approvals.manual_completion import take_todo
from todos.content.lifecycle import Actor
from todos.executor.job_keys import put_off
from todos.models import Approval, Todo
from todos.services import cancel_todo, review_again
from tools.engine.execution.callback import callback_token
from tools.engine.execution.outcome_policy import MAX_ATTEMPTS
from tools.engine.function_calling.results import UNKNOWN
from tools.models import Effect
from tools.services.bookings.resources import plant_resources

CALLER = "send_email_to_caller"
HELLO = {"body": {"what": "Hello"}}
SETTING = "project_attributes_setting_"
SEEN = {"type": "set_persona_attribute", "options": {"attribute": "crew", "path": "crew"}}


def answer(runs: Runs, effect: Effect, body: bytes = b'{"crew": "came"}') -> bool:
    return runs.do(store_callback, effect.pk, token=callback_token(effect.pk), body=body)


def says(runs: Runs, effect: Effect, *, happened: bool) -> None:
    runs.do(resolve, runs.tenant.project, effect.pk, happened=happened, by=runs.boss.pk)


@pytest.fixture
def unclear(runs: Runs, target: Target) -> Todo:
    """A frozen todo whose request was cut: it may have happened."""
    target.answers(Answers(drops=True), Answers())
    runs.own_tool(target.url)
    return runs.execute(runs.frozen(NOTIFY, HELLO))


def test_what_was_not_sent_is_tried_again(runs: Runs, target: Target) -> None:
    """By another job, under the same key, each time after a pause; the model is not asked in between."""
    target.answers(Answers(status=503), Answers(status=503), Answers())
    runs.own_tool(target.url, delivery="idempotent")
    runs.calls_tool(NOTIFY, HELLO)
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
        {"arguments": {"body": {"what": "Something else"}}},
        {"tool": "tell_nobody"},
        {"definition": {"description": "Another tool.", "action": {"type": "send_urgent_message"}}},
    ],
    ids=["arguments", "tool", "definition"],
)
def test_a_plan_that_was_swapped_in_the_ledger_is_not_run(swap: dict[str, Any], runs: Runs, target: Target) -> None:
    """What was decided under the approval runs, or nothing."""
    target.answers(Answers(status=429, headers={"Retry-After": "60"}), Answers())
    runs.own_tool(target.url, delivery="idempotent")
    runs.calls_tool(NOTIFY, HELLO)
    todo = runs.execute(runs.todo(runs.kind(NOTIFY)), hurry=False)
    with runs.tenant.tx():
        Effect.objects.update(**swap)
    todo = runs.run(todo)
    assert (todo.status, len(target.log), runs.effects(todo)[0].state) == ("pending_review", 1, "cancelled")
    assert f"What is planned for {NOTIFY} isn't what was decided" in todo.reason


def test_one_statement_finds_what_of_a_step_is_put_off(
    runs: Runs, target: Target, django_assert_max_num_queries: Any
) -> None:
    """Whatever the number of calls."""
    target.answers(*[Answers(status=503)] * 5)
    runs.own_tool(target.url, delivery="idempotent")
    calls = [{"name": NOTIFY, "arguments": {"body": {"what": str(number)}}} for number in range(5)]
    runs.model.script("execute", tool_calls=calls)
    effects = runs.effects(todo := runs.execute(runs.todo(runs.kind(NOTIFY)), hurry=False))
    with runs.tenant.tx():
        [approval] = Approval.objects.filter(todo=todo)
        with django_assert_max_num_queries(1):
            waiting = put_off(approval, effects)
    assert (len(effects), waiting) == (5, {effect.pk for effect in effects})


def test_another_job_makes_no_attempt_before_it_is_due(runs: Runs, target: Target) -> None:
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
def test_what_its_worker_died_at_is_asked_about_or_tried_as_often_as_any_other(
    delivery: str, attempts: int, status: str, sent: int, runs: Runs, target: Target
) -> None:
    """Nobody knows whether the last request left; one that kills every worker does so no tenth time."""
    target.answers(Answers(status=429), Answers())
    runs.own_tool(target.url, delivery=delivery)
    todo = runs.execute(runs.frozen(NOTIFY, HELLO), hurry=False)
    with runs.tenant.tx():
        Effect.objects.update(state="sending", attempts=attempts)
    assert (runs.run(todo).status, len(target.log)) == (status, sent)


def test_a_tool_that_answers_later_is_waited_for(runs: Runs, target: Target) -> None:
    """The todo stays in progress, its job ends; the answer queues another."""
    target.answers(Answers(status=202))
    runs.own_tool(target.url, callback=True)
    runs.calls_tool(NOTIFY, HELLO)
    runs.says()
    todo = runs.execute(runs.todo(runs.kind(NOTIFY)))
    [effect] = runs.effects(todo)
    assert (todo.status, effect.state, len(runs.steps(todo))) == ("in_progress", "sending", 1)
    assert answer(runs, effect)
    todo = runs.run(todo)
    assert (todo.status, runs.result(todo)) == ("completed", '{"crew": "came"}')
    assert [len(target.log), len(runs.steps(todo))] == [1, 2]


def test_a_second_answer_changes_nothing(runs: Runs, target: Target) -> None:
    target.answers(Answers(status=202))
    runs.own_tool(target.url, callback=True)
    todo = runs.execute(runs.frozen(NOTIFY, HELLO))
    [effect] = runs.effects(todo)
    answer(runs, effect)
    answer(runs, effect, b'{"error": "never"}')
    todo = runs.run(todo)
    assert (todo.status, runs.effects(todo)[0].state) == ("completed", "done")


def test_an_answer_that_never_comes_is_unknown(runs: Runs, target: Target) -> None:
    """A late answer still completes the todo."""
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
    assert f"It isn't known whether {NOTIFY} happened" in unclear.reason


def test_what_may_have_happened_is_never_called_failed(runs: Runs, target: Target) -> None:
    """The first attempt was cut, and the second refused."""
    target.answers(Answers(drops=True), Answers(status=400))
    runs.own_tool(target.url, delivery="idempotent")
    todo = runs.execute(runs.frozen(NOTIFY, HELLO))
    assert (todo.status, runs.effects(todo)[0].state, len(target.log)) == ("needs_attention", "unknown", 2)


def test_what_was_under_way_when_its_todo_was_cancelled_is_asked_about(runs: Runs, target: Target) -> None:
    """Its worker died at it."""
    target.answers(Answers(status=429))
    runs.own_tool(target.url, delivery="idempotent")
    todo = runs.execute(runs.frozen(NOTIFY, HELLO), hurry=False)
    with runs.tenant.tx():
        Effect.objects.update(state="sending")
    runs.do(cancel_todo, todo.pk, actor=Actor("Nello"))
    runs.run(todo)
    assert (runs.effects(todo)[0].state, runs.result(todo), len(target.log)) == ("unknown", UNKNOWN, 1)


def test_what_may_have_happened_is_answered_before_a_person_takes_over(unclear: Todo, runs: Runs) -> None:
    """Otherwise it might happen twice."""
    with pytest.raises(WrongState, match=f"It isn't known whether {NOTIFY} happened"):
        runs.do(take_todo, unclear.pk, **runs.seen(unclear), actor=Actor("Nello"), member=runs.boss)


def test_staff_says_that_it_happened(unclear: Todo, runs: Runs, target: Target) -> None:
    says(runs, runs.effects(unclear)[0], happened=True)
    assert (runs.now(unclear).status, len(target.log)) == ("completed", 1)
    assert runs.result(unclear) == "A colleague has checked it: it was done."


def test_staff_says_that_it_did_not_happen(unclear: Todo, runs: Runs, target: Target) -> None:
    """It is done once more, under the same key: that is staff's word for it, as often as it takes."""
    target.answers(Answers(drops=True), Answers())
    for status in ("needs_attention", "completed"):
        says(runs, runs.effects(unclear)[0], happened=False)
        assert runs.now(unclear).status == "in_progress"
        assert runs.run(unclear).status == status
    assert (len(target.log), len(set(target.keys()))) == (3, 1)


def test_what_is_left_after_staffs_word_is_said(runs: Runs, target: Target) -> None:
    """Of two calls one may have happened, and the other did not."""
    target.answers(Answers(drops=True), Answers(status=400))
    runs.own_tool(target.url)
    runs.model.script("execute", tool_calls=[{"name": NOTIFY, "arguments": {"body": {"what": word}}} for word in "ab"])
    runs.says()
    todo = runs.execute(runs.todo(runs.kind(NOTIFY)))
    says(runs, runs.effects(todo)[0], happened=True)
    todo = runs.now(todo)
    assert (todo.status, todo.reason.startswith(f"{NOTIFY} was not done")) == ("needs_attention", True)


def test_staff_answers_only_what_is_not_known(runs: Runs) -> None:
    [effect] = runs.effects(runs.execute(runs.frozen()))
    with pytest.raises(WrongState, match="this one is done"):
        says(runs, effect, happened=False)


def test_what_staff_says_of_a_todo_that_is_over_starts_nothing(unclear: Todo, runs: Runs, target: Target) -> None:
    """Another yes is another run."""
    [effect] = runs.effects(unclear)
    runs.do(review_again, unclear.pk, actor=Actor("Nello"))
    says(runs, effect, happened=False)
    runs.run(unclear)
    assert (runs.effects(unclear)[0].state, len(target.log)) == ("failed", 1)


def test_a_repeat_is_held_and_staff_may_release_it(runs: Runs) -> None:
    """Two todos with the same words for the same customer."""
    runs.execute(runs.frozen())
    todo = runs.execute(runs.frozen())
    [effect] = runs.effects(todo)
    assert (todo.status, effect.state) == ("needs_attention", "held")
    runs.do(release, runs.tenant.project, effect.pk, by=runs.boss.pk)
    assert runs.run(todo).status == "completed"


def test_what_is_held_back_is_not_released_while_its_todo_is_reviewed(runs: Runs) -> None:
    """That is a tick of the review."""
    runs.execute(runs.frozen())
    todo = runs.execute(runs.frozen())
    [effect] = runs.effects(todo)
    runs.do(review_again, todo.pk, actor=Actor("Nello"))
    with pytest.raises(WrongState, match="review that again"):
        runs.do(release, runs.tenant.project, effect.pk, by=runs.boss.pk)
    assert runs.effects(todo)[0].state == "held"


def test_a_repeat_is_held_though_another_letter_went_out_in_between(runs: Runs) -> None:
    """The newest letter to the customer isn't the only one that is compared."""
    letters = [runs.execute(runs.frozen(arguments={**LETTER, "body": body})) for body in ("One.", "Two.", "One.")]
    assert [runs.effects(todo)[0].state for todo in letters] == ["done", "done", "held"]


def test_the_same_letter_after_a_while_is_no_repeat(runs: Runs) -> None:
    """Of another todo, which somebody has approved."""
    runs.execute(runs.frozen())
    with runs.tenant.tx():
        Effect.objects.update(started_at=F("started_at") - timedelta(minutes=11))
    assert runs.execute(runs.frozen()).status == "completed"


@pytest.mark.parametrize(("hours", "status"), [(23, "needs_attention"), (25, "completed")])
def test_the_same_booking_is_a_mistake_for_a_day(hours: int, status: str, runs: Runs) -> None:
    """Of another todo, though nobody booked anything in between."""
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


def test_two_letters_to_one_customer_are_no_repeat(runs: Runs) -> None:
    """Each was approved with its own words."""
    runs.execute(runs.frozen())
    assert runs.execute(runs.frozen(arguments={**LETTER, "body": "Something else."})).status == "completed"


@pytest.mark.parametrize(("ticked", "status"), [(False, "needs_attention"), (True, "completed")])
def test_what_an_earlier_run_did_is_repeated_if_it_is_ticked(ticked: bool, status: str, runs: Runs) -> None:
    """Whatever the words are."""
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


def test_what_failed_before_is_tried_again(runs: Runs, target: Target) -> None:
    """Without a tick, because it did not happen."""
    target.answers(Answers(status=400), Answers())
    runs.own_tool(target.url)
    todo = runs.execute(runs.frozen(NOTIFY, HELLO))
    runs.do(review_again, todo.pk, actor=Actor("Nello"))
    assert (todo.status, runs.execute(runs.now(todo)).status) == ("failed", "completed")


def test_two_letters_of_one_run_are_no_repeat_though_it_is_the_second(runs: Runs) -> None:
    """Only what earlier runs did is compared by its recipient alone."""
    runs.model.script("execute", times=1, fault="content_filter")
    todo = runs.execute(runs.todo(runs.kind(CALLER)))
    runs.do(review_again, todo.pk, actor=Actor("Nello"))
    runs.calls_tool(CALLER)
    runs.calls_tool(CALLER, {**LETTER, "body": "Something else."})
    runs.says()
    assert runs.execute(runs.now(todo)).status == "completed"


def test_a_tick_is_for_what_it_stands_beside(runs: Runs, target: Target) -> None:
    """What else was done before is held back still."""
    runs.own_tool(target.url)
    runs.calls_tool(CALLER)
    runs.calls_tool(NOTIFY, HELLO)
    runs.model.script("execute", times=1, fault="content_filter")
    todo = runs.execute(runs.todo(runs.kind(CALLER, NOTIFY)))
    _, told = runs.effects(todo)
    runs.do(review_again, todo.pk, actor=Actor("Nello"), repeats=[told.pk])
    runs.calls_tool(CALLER)
    runs.calls_tool(NOTIFY, HELLO)
    runs.says()
    todo = runs.execute(runs.now(todo))
    assert [effect.state for effect in runs.effects(todo)] == ["done", "done", "held", "done"]
    assert (todo.status, len(target.log)) == ("needs_attention", 2)


@pytest.mark.parametrize(("ticked", "status"), [(False, "needs_attention"), (True, "completed")])
def test_what_was_held_back_is_done_if_it_is_ticked(ticked: bool, status: str, runs: Runs) -> None:
    """Whoever ticks it has seen that the same was done already, by another todo."""
    runs.execute(runs.frozen())
    todo = runs.execute(runs.frozen())
    [held] = runs.effects(todo)
    runs.do(review_again, todo.pk, actor=Actor("Nello"), repeats=[held.pk] if ticked else [])
    assert runs.execute(runs.now(todo)).status == status


@pytest.mark.requirement("N47")
def test_after_actions_change_the_conversation(runs: Runs, target: Target) -> None:
    """By the conversation's own lane."""
    target.answers(Answers(body='{"crew": "red"}'))
    runs.own_tool(target.url, after_actions=[SEEN])
    todo = runs.execute(runs.frozen(NOTIFY, HELLO))
    runs.run(todo, lane="effect")
    with runs.tenant.tx():
        assert PersonaField.objects.get(persona_id=todo.persona_id, key="crew").value == "red"


def after(runs: Runs, todo: Todo) -> list[tuple[str, str]]:
    """How the after-actions of a todo's one effect ended, once their lane has run."""
    runs.run(todo, lane="effect")
    with runs.tenant.tx():
        return [(row.state, row.error or row.value) for row in runs.effects(todo)[0].after_actions.order_by("index")]


@pytest.mark.requirement("N47")
def test_without_a_conversation_the_customer_is_known_by_what_came_back(runs: Runs, target: Target) -> None:
    """The rest needs a conversation, and is skipped with that reason."""
    target.answers(Answers(body='{"crew": "red"}'))
    runs.own_tool(target.url, after_actions=[{"type": "send_urgent_message"}, SEEN])
    todo = runs.execute(runs.frozen(NOTIFY, HELLO, conversation_id=None))
    assert after(runs, todo) == [("skipped", "The todo belongs to no conversation."), ("done", "red")]
    with runs.tenant.tx():
        assert PersonaField.objects.get(persona_id=todo.persona_id, key="crew").value == "red"


@pytest.mark.requirement("N47")
def test_a_model_works_on_what_came_back_outside_of_a_conversation(runs: Runs, target: Target) -> None:
    target.answers(Answers(body='{"crew": "red"}'))
    runs.own_tool(target.url, after_actions=[{**SEEN, "options": {"attribute": "crew", "instruction": "The colour."}}])
    runs.model.script("arguments", json={"value": "rot"})
    assert after(runs, runs.execute(runs.frozen(NOTIFY, HELLO, conversation_id=None))) == [("done", "rot")]


@pytest.mark.requirement("N47")
def test_without_a_customer_there_is_nobody_to_know_better(runs: Runs, target: Target) -> None:
    """No job is queued."""
    runs.own_tool(target.url, after_actions=[SEEN])
    todo = runs.execute(runs.frozen(NOTIFY, HELLO, conversation_id=None, persona_id=None))
    assert after(runs, todo) == [("skipped", "The todo is about no customer.")]
    with runs.tenant.tx():
        assert not Job.objects.filter(lane="effect").exists()


@pytest.mark.requirement("N47")
def test_a_value_that_can_not_be_right_fails_visibly(runs: Runs, target: Target) -> None:
    target.answers(Answers(body='{"crew": "\\u202e"}'))
    runs.own_tool(target.url, after_actions=[SEEN])
    [(state, error)] = after(runs, runs.execute(runs.frozen(NOTIFY, HELLO, conversation_id=None)))
    assert (state, error) == ("failed", "crew would contain control characters.")


def test_what_an_earlier_run_waits_for_holds_up_no_later_one(runs: Runs, target: Target) -> None:
    """The first run waits an hour for a callback; meanwhile its todo changed, and was approved again."""
    target.answers(Answers(status=202))
    runs.own_tool(target.url, callback=True)
    target.on_request = lambda _: runs.do(give_fields, runs.conversation.persona, {"email": "ada@other.example"})
    hello = {"name": NOTIFY, "arguments": HELLO}
    runs.model.script("execute", tool_calls=[hello, {"name": CALLER, "arguments": LETTER}])
    todo = runs.execute(runs.todo(runs.kind(NOTIFY, CALLER)))
    assert (todo.status, [one.state for one in runs.effects(todo)]) == ("pending_review", ["sending", "cancelled"])
    runs.calls_tool(CALLER)
    runs.says()
    assert runs.execute(todo, hurry=False).status == "completed"
