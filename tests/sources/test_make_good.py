"""A promise that broke, or is late, drafts a correction and the next step as a todo (D16)."""

from __future__ import annotations

from typing import Any

from django.db import connection

from conversations.make_good import draft_make_goods
from tests.sources.conftest import CHEF, LUCIA, MAIL, PROMISE, SMS, Desk, no_types, todos
from todos.lifecycle import move
from todos.models import Todo, TodoSource, TodoStatus
from tools.models import Effect, EffectState, Promise, PromiseState
from tools.promises import LATE, MADE_GOOD, break_overdue_promises, settle_promises


def broke(desk: Desk, *, error: str = "The number is not a mobile's.") -> Promise:
    """A promise whose effect failed."""
    desk.reads(SMS)
    desk.analyse(PROMISE)
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
    return [todo for todo in todos(desk) if todo.source == TodoSource.MAKE_GOOD]


def test_a_broken_promise_drafts_a_correction_and_the_next_step(desk: Desk) -> None:
    promise = broke(desk)
    [todo] = make_goods(desk)
    assert (todo.status, todo.promise_id) == (TodoStatus.PENDING_REVIEW, promise.pk)
    assert (todo.conversation_id, todo.quote) == (promise.conversation_id, PROMISE)
    assert all(part in todo.description for part in (PROMISE, "The number is not a mobile's.", "Next step:", SMS))


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
    draft_make_goods()
    with stranger.tx():
        assert not Todo.objects.exists()
