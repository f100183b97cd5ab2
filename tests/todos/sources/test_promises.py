"""A promise that no tool can keep becomes a todo at once, and what becomes of the todo becomes of the promise."""

from __future__ import annotations

import pytest

from tests.todos.sources.conftest import CHEF, LUCIA, TEAM, Desk, finds, jobs, no_types, todos, told
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import cancel_todo, edit_todo, expire_todo, reject_todo
from tools.engine.promise_answers import mark_kept, withdraw_promise
from tools.models import PromiseState


def promised(desk: Desk) -> Todo:
    """The todo of a promise that no tool serves."""
    desk.reads(unserved=[CHEF])
    desk.analyse(f"{CHEF['quote']}.")
    [todo] = todos(desk)
    return todo


def test_a_promise_that_no_tool_can_keep_is_a_todo_in_the_same_commit(desk: Desk) -> None:
    todo = promised(desk)
    [promise] = desk.promises()
    assert (todo.source, todo.status, todo.promise_id) == (TodoSource.PROMISE, TodoStatus.PENDING_REVIEW, promise.pk)
    assert (todo.quote, todo.conversation_id) == (CHEF["quote"], desk.talk.conversation.pk)
    assert todo.persona_id == desk.talk.conversation.persona_id


def test_the_extraction_gives_it_its_type_and_its_words(desk: Desk) -> None:
    todo = promised(desk)
    finds(desk, {"quote": CHEF["quote"], "type": TEAM, "description": "Ask the chef about wine in the ragù."})
    desk.run("extraction")
    [decided] = todos(desk)
    assert (decided.pk, decided.type.name) == (todo.pk, TEAM)
    assert decided.description == "Ask the chef about wine in the ragù."
    assert decided.version == todo.version + 1


def test_while_the_conversation_goes_on_nothing_else_is_extracted(desk: Desk) -> None:
    promised(desk)
    finds(desk, {"quote": "Please do"}, {"quote": CHEF["quote"], "type": TEAM})
    desk.run("extraction")
    assert [todo.quote for todo in todos(desk)] == [CHEF["quote"]]


def test_whoever_was_faster_than_the_extraction_keeps_their_word(desk: Desk) -> None:
    todo = promised(desk)
    with desk.tenant.tx():
        edit_todo(todo.pk, {"description": "I ask him myself."}, actor=LUCIA, version=todo.version)
        reject_todo(todo.pk, actor=LUCIA)
    finds(desk, {"quote": CHEF["quote"], "type": TEAM})
    desk.run("extraction")
    [same] = todos(desk)
    assert (same.description, same.type) == ("I ask him myself.", None)


def test_without_types_the_todo_is_made_and_no_model_asked(desk: Desk) -> None:
    no_types(desk)
    assert promised(desk).type is None
    assert jobs(desk, "extraction") == []


@pytest.mark.parametrize(
    ("verb", "becomes"),
    [(reject_todo, PromiseState.WITHDRAWN), (cancel_todo, PromiseState.WITHDRAWN)],
)
def test_a_todo_that_somebody_ends_withdraws_its_promise_and_the_agent_is_told(desk: Desk, verb, becomes) -> None:
    todo = promised(desk)
    with desk.tenant.tx():
        verb(todo.pk, actor=LUCIA, reason="The chef is away.")
    [promise] = desk.promises()
    assert promise.state == becomes
    assert "The chef is away." in promise.reason
    desk.run("todo_news")
    [text] = told(desk)
    assert CHEF["quote"] in text
    assert "The chef is away." in text


def test_a_promise_that_nobody_approved_in_time_is_broken(desk: Desk) -> None:
    todo = promised(desk)
    with desk.tenant.tx():
        expire_todo(todo)
    [promise] = desk.promises()
    assert (promise.state, promise.reason) == (PromiseState.BROKEN, "Nobody approved it in time.")


@pytest.mark.parametrize("answer", [mark_kept, withdraw_promise])
def test_a_promise_that_a_person_answered_takes_its_todo_back_and_nothing_is_said(desk: Desk, answer) -> None:
    todo = promised(desk)
    with desk.tenant.tx():
        answer(desk.tenant.project, todo.promise_id, by="Lucia")
    desk.run("todo_news")
    [ended] = todos(desk)
    assert ended.status == TodoStatus.CANCELLED
    assert "Lucia" in ended.reason
    assert "Lucia" in desk.promises()[0].reason
    assert told(desk) == []


def test_the_same_promise_once_more_is_one_todo_whose_end_is_both(desk: Desk) -> None:
    """While the first one stands; afterwards it is a promise anew."""
    todo = promised(desk)
    assert promised(desk).pk == todo.pk
    with desk.tenant.tx():
        cancel_todo(todo.pk, actor=LUCIA)
    assert [promise.state for promise in desk.promises()] == [PromiseState.WITHDRAWN, PromiseState.WITHDRAWN]
    desk.reads(unserved=[CHEF])
    desk.analyse(f"{CHEF['quote']}.")
    assert [one.status for one in todos(desk)] == [TodoStatus.CANCELLED, TodoStatus.PENDING_REVIEW]
