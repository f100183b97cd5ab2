"""A promise that broke, or is late, drafts a correction and the next step as a todo."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from conversations.promises.make_good import draft_make_goods
from jobs.lanes import ClaimedJob
from jobs.models import Job, State
from jobs.services import fail_job
from tests.todos.sources.conftest import CHEF, LUCIA, MAIL, PROMISE, SMS, Desk, no_types, todos
from todos.content.lifecycle import move
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
        cursor.execute("update tools_promise set due_at = clock_timestamp() - interval '1 second'")


def make_goods(desk: Desk) -> list[Todo]:
    draft_make_goods()
    desk.run("make_good")
    return [todo for todo in todos(desk) if todo.source == TodoSource.MAKE_GOOD]


def drafts(desk: Desk, **words: str) -> None:
    """Script the next draft."""
    plain = {"correction": "No text went out, and I am sorry.", "next_step": "Call Ann with the details."}
    desk.model.script("make_good", json={**plain, **words})


def test_a_broken_promise_drafts_a_correction_and_the_next_step(desk: Desk) -> None:
    """In a model's words, beside what was said and why it did not happen."""
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


def test_what_may_have_happened_is_not_told_as_undone(desk: Desk) -> None:
    """The answer was lost, so somebody has to find out first; no model is asked for an apology."""
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


def test_the_model_reads_the_promise_the_reason_and_what_was_said(desk: Desk) -> None:
    broke(desk)
    make_goods(desk)
    [request] = desk.model.requests("make_good")
    prompt = request["messages"][-1]["content"]
    assert all(part in prompt for part in (PROMISE, "The number is not a mobile's.", "customer: Please do"))


@pytest.mark.parametrize("words", [{"correction": " \n"}, {"next_step": ""}, {"correction": "so sorry " * 200}])
def test_a_draft_without_words_or_with_too_many_leaves_the_fixed_sentences(desk: Desk, words: dict[str, str]) -> None:
    broke(desk)
    drafts(desk, **words)
    [todo] = make_goods(desk)
    assert "apologize in one sentence" in todo.description
    assert f"Next step: {SMS} did not do it" in todo.description


def test_a_model_that_refuses_leaves_the_fixed_sentences(desk: Desk) -> None:
    """A person approves them all the same."""
    broke(desk)
    desk.model.script("make_good", fault="content_filter")
    [todo] = make_goods(desk)
    assert (todo.status, "apologize in one sentence" in todo.description) == (TodoStatus.PENDING_REVIEW, True)


def test_a_job_that_failed_for_good_leaves_the_fixed_sentences(desk: Desk) -> None:
    """Whatever it failed with."""
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


def test_a_late_promise_does_too(desk: Desk) -> None:
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


def test_one_that_broke_long_ago_is_history(desk: Desk) -> None:
    broke(desk)
    with desk.tenant.tx(), connection.cursor() as cursor:
        cursor.execute("update tools_promise set closed_at = clock_timestamp() - interval '25 hours'")
    assert make_goods(desk) == []


def test_its_type_can_write_to_the_customer(desk: Desk) -> None:
    broke(desk)
    [todo] = make_goods(desk)
    assert todo.type.name == MAIL


def test_without_types_somebody_chooses_what_to_do(desk: Desk) -> None:
    no_types(desk)
    broke(desk)
    [todo] = make_goods(desk)
    assert todo.type is None


def test_once_it_is_done_the_promise_says_that_it_was_made_good(desk: Desk) -> None:
    broke(desk)
    [todo] = make_goods(desk)
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(status=TodoStatus.IN_PROGRESS)
        todo = Todo.objects.get(pk=todo.pk)
        move(todo, TodoStatus.COMPLETED, what="completed", actor=LUCIA)
    [promise] = desk.promises()
    assert promise.state == PromiseState.BROKEN
    assert promise.reason == f"The number is not a mobile's. {MADE_GOOD}"


def test_one_tenants_promise_is_made_good_for_that_tenant(desk: Desk, stranger: Any) -> None:
    broke(desk)
    make_goods(desk)
    with stranger.tx():
        assert not Todo.objects.exists()
