"""Broken or late promises, for which a correction and a next step are drafted as a todo."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from conversations.promises.make_good import draft_make_goods
from jobs.lanes import ClaimedJob
from jobs.models import Job, State
from jobs.services import fail_job
from tests.todos.sources.conftest import CHEF, LUCIA, MAIL, PROMISE, SMS, Desk, no_types, todos
from todos.content.lifecycle import transition
from todos.models import Todo, TodoSource, TodoStatus
from tools.engine.promises import LATE, MADE_GOOD, break_overdue_promises, settle_promises
from tools.models import Effect, EffectState, Promise, PromiseState


def broke(desk: Desk, *, error: str = "The number is not a mobile's.", hears: str = "Please do") -> Promise:
    """A promise whose effect failed."""
    desk.reads(SMS)
    desk.analyse(PROMISE, hears=hears)
    with desk.tenant.tx():
        Effect.objects.update(state=EffectState.FAILED, error=error)
        settle_promises(Effect.objects.get())
    [promise] = desk.promises()
    return promise


def late(desk: Desk) -> None:
    with desk.tenant.tx(), connection.cursor() as cursor:
        cursor.execute("update tools_promise set due_at = clock_timestamp() - interval '21 minutes'")


def make_goods(desk: Desk) -> list[Todo]:
    draft_make_goods()
    desk.run("make_good")
    return [todo for todo in todos(desk) if todo.source == TodoSource.MAKE_GOOD]


def drafts(desk: Desk, **words: str) -> None:
    """Script the next draft."""
    plain = {"correction": "No text went out, and I am sorry.", "next_step": "Call Ann with the details."}
    desk.model.script("make_good", json={**plain, **words})


def test_a_broken_promise_drafts_a_correction_and_a_next_step(desk: Desk) -> None:
    promise = broke(desk)
    drafts(desk)
    [todo] = make_goods(desk)
    assert (todo.status, todo.promise_id) == (TodoStatus.PENDING_REVIEW, promise.pk)
    assert (todo.conversation_id, todo.quote) == (promise.conversation_id, PROMISE)
    parts = (
        PROMISE,
        "The number is not a mobile's.",
        "“No text went out, and I am sorry.”",
        "Call Ann with the details.",
    )
    assert all(part in todo.description for part in parts)


def test_an_unknown_outcome_is_not_reported_as_undone(desk: Desk) -> None:
    """Somebody has to confirm it first; no apology is drafted."""
    desk.reads(SMS)
    desk.analyse(PROMISE, hears="Please do")
    with desk.tenant.tx():
        Effect.objects.update(state=EffectState.UNKNOWN, error="The answer was lost.")
    late(desk)
    break_overdue_promises()
    [todo] = make_goods(desk)
    assert "we don't know whether that happened" in todo.description
    assert "did not happen." not in todo.description
    assert not desk.model.requests("make_good")


def test_the_prompt_contains_promise_reason_and_transcript(desk: Desk) -> None:
    broke(desk)
    make_goods(desk)
    [request] = desk.model.requests("make_good")
    prompt = request["messages"][-1]["content"]
    assert all(part in prompt for part in (PROMISE, "The number is not a mobile's.", "customer: Please do"))


@pytest.mark.parametrize("words", [{"correction": " \n"}, {"next_step": ""}, {"correction": "so sorry " * 200}])
def test_an_empty_or_overlong_draft_is_replaced_by_fixed_sentences(desk: Desk, words: dict[str, str]) -> None:
    broke(desk)
    drafts(desk, **words)
    [todo] = make_goods(desk)
    assert "apologize in one sentence" in todo.description
    assert f"Next step: {SMS} did not do it" in todo.description


def test_a_refusal_of_the_model_is_replaced_by_fixed_sentences(desk: Desk) -> None:
    broke(desk)
    desk.model.script("make_good", fault="content_filter")
    [todo] = make_goods(desk)
    assert (todo.status, "apologize in one sentence" in todo.description) == (TodoStatus.PENDING_REVIEW, True)


def test_a_permanently_failed_job_is_replaced_by_fixed_sentences(desk: Desk) -> None:
    broke(desk)
    draft_make_goods()
    with desk.tenant.tx():
        Job.objects.filter(lane="make_good").update(state=State.RUNNING, token=1)
        row = Job.objects.get(lane="make_good")
    values: dict[str, Any] = {name: getattr(row, name) for name in ("id", "lane", "subject_id", "ordinal", "key")}
    organization_id = desk.tenant.organization.pk
    fail_job(
        ClaimedJob(organization_id=organization_id, token=1, attempt=5, max_attempts=5, **values), reason="It broke."
    )
    [todo] = make_goods(desk)
    assert "apologize in one sentence" in todo.description


@pytest.mark.parametrize(
    ("hears", "word"), [("Könnten Sie mir das bitte schicken?", "Kollegen"), ("Please do", "sorry")]
)
def test_the_offline_model_writes_in_the_language_of_the_conversation(desk: Desk, hears: str, word: str) -> None:
    broke(desk, hears=hears)
    [todo] = make_goods(desk)
    assert word in todo.description


def test_a_late_promise_drafts_a_correction(desk: Desk) -> None:
    desk.reads(unserved=[CHEF])
    desk.analyse(f"{CHEF['quote']}.")
    late(desk)
    break_overdue_promises()
    [todo] = make_goods(desk)
    assert CHEF["quote"] in todo.description
    assert LATE in todo.description


def test_each_promise_is_made_good_once(desk: Desk) -> None:
    broke(desk)
    make_goods(desk)
    assert len(make_goods(desk)) == 1


def test_a_kept_promise_drafts_nothing(desk: Desk) -> None:
    desk.reads(SMS)
    desk.analyse(PROMISE)
    with desk.tenant.tx():
        Effect.objects.update(state=EffectState.DONE)
        settle_promises(Effect.objects.get())
    assert make_goods(desk) == []


def test_a_promise_that_was_not_sent_drafts_no_correction(desk: Desk) -> None:
    """Nothing was tried. Staff sees it, and connects a provider."""
    desk.reads(SMS)
    desk.analyse(PROMISE)
    with desk.tenant.tx():
        Effect.objects.update(state=EffectState.DONE, adapter="outbox")
        settle_promises(Effect.objects.get())
    late(desk)
    break_overdue_promises()
    assert [promise.state for promise in desk.promises()] == [PromiseState.BROKEN]
    assert make_goods(desk) == []


def test_a_promise_broken_long_ago_is_ignored(desk: Desk) -> None:
    broke(desk)
    with desk.tenant.tx(), connection.cursor() as cursor:
        cursor.execute("update tools_promise set closed_at = clock_timestamp() - interval '25 hours'")
    assert make_goods(desk) == []


def test_its_type_can_write_to_the_customer(desk: Desk) -> None:
    broke(desk)
    [todo] = make_goods(desk)
    assert todo.type.name == MAIL


def test_without_types_the_todo_has_no_tool(desk: Desk) -> None:
    no_types(desk)
    broke(desk)
    [todo] = make_goods(desk)
    assert todo.type is None


def test_completing_the_todo_marks_the_promise_as_made_good(desk: Desk) -> None:
    broke(desk)
    [todo] = make_goods(desk)
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(status=TodoStatus.IN_PROGRESS)
        todo = Todo.objects.get(pk=todo.pk)
        transition(todo, TodoStatus.COMPLETED, what="completed", actor=LUCIA)
    [promise] = desk.promises()
    assert promise.state == PromiseState.BROKEN
    assert promise.reason == f"The number is not a mobile's. {MADE_GOOD}"


def test_a_promise_is_made_good_within_its_tenant(desk: Desk, stranger: Any) -> None:
    broke(desk)
    make_goods(desk)
    with stranger.tx():
        assert not Todo.objects.exists()
