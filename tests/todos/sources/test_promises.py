"""Promises that no tool can keep: they become todos at once and share their outcome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import AsyncMock

import pytest
from django.utils import timezone

from conversations.tool_runs.effects.receipts import end_overdue_receipts
from conversations.turns.services import give_fields
from jobs.models import Job
from tests.todos.sources.conftest import CHEF, LUCIA, SMS, TEAM, Desk, finds, jobs, no_types, todos, told
from tests.todos.sources.test_requires_approval import approve
from tests.tools.messaging.conftest import connect_twilio
from tests.tools.messaging.reporting import PUBLIC, report
from tests.tools.messaging.twilio_server import Call, TwilioServer
from todos.approvals.undo_rejection import undo_rejection
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import cancel_todo, edit_todo, expire_todo, reject_todo
from tools.engine.execution.outcome import Outcome
from tools.engine.promise_answers import mark_kept, withdraw_promise
from tools.models import Effect, PromiseOwner, PromiseState
from tools.services.messaging import outbox


def promised(desk: Desk) -> Todo:
    """The todo of a promise without a tool."""
    desk.reads(unserved=[CHEF])
    desk.analyse(f"{CHEF['quote']}.")
    [todo] = todos(desk)
    return todo


def undo_period_is_over(desk: Desk) -> None:
    with desk.tenant.tx():
        Job.objects.filter(lane="todo_news").update(run_after=timezone.now())


def test_a_rejection_is_not_told_while_it_can_be_undone(desk: Desk) -> None:
    todo = promised(desk)
    with desk.tenant.tx():
        reject_todo(todo.pk, actor=LUCIA)
    desk.run("todo_news")
    assert told(desk) == []


def test_an_undone_rejection_opens_the_promise_again_and_tells_nobody(desk: Desk) -> None:
    todo = promised(desk)
    with desk.tenant.tx():
        reject_todo(todo.pk, actor=LUCIA)
        undo_rejection(todo.pk, actor=LUCIA)
    [promise] = desk.promises()
    assert (promise.state, promise.owner, promise.closed_at) == (PromiseState.OPEN, PromiseOwner.STAFF, None)
    undo_period_is_over(desk)
    desk.run("todo_news")
    assert todos(desk)[0].status == TodoStatus.PENDING_REVIEW
    assert told(desk) == []


def test_an_undone_rejection_opens_no_promise_of_an_earlier_rejection(desk: Desk) -> None:
    """The same words were promised before, and that was rejected for good."""
    first = promised(desk)
    with desk.tenant.tx():
        reject_todo(first.pk, actor=LUCIA)
    desk.reads(unserved=[CHEF])
    desk.analyse(f"{CHEF['quote']}.")
    [_, second] = todos(desk)
    with desk.tenant.tx():
        reject_todo(second.pk, actor=LUCIA)
        undo_rejection(second.pk, actor=LUCIA)
    assert [promise.state for promise in desk.promises()] == [PromiseState.WITHDRAWN, PromiseState.OPEN]


def test_an_undone_rejection_opens_a_repetition_again_too(desk: Desk) -> None:
    todo = promised(desk)
    desk.reads(unserved=[CHEF])
    desk.analyse(f"{CHEF['quote']}.")
    with desk.tenant.tx():
        reject_todo(todo.pk, actor=LUCIA)
        undo_rejection(todo.pk, actor=LUCIA)
    assert [promise.state for promise in desk.promises()] == [PromiseState.OPEN, PromiseState.OPEN]


def test_a_promise_without_a_tool_creates_a_todo_in_the_same_commit(desk: Desk) -> None:
    todo = promised(desk)
    [promise] = desk.promises()
    assert (todo.source, todo.status, todo.promise_id) == (TodoSource.PROMISE, TodoStatus.PENDING_REVIEW, promise.pk)
    assert (todo.quote, todo.conversation_id) == (CHEF["quote"], desk.talk.conversation.pk)
    assert todo.persona_id == desk.talk.conversation.persona_id


def test_the_extraction_sets_its_type_and_description(desk: Desk) -> None:
    todo = promised(desk)
    finds(desk, {"quote": CHEF["quote"], "type": TEAM, "description": "Ask the chef about wine in the ragù."})
    desk.run("extraction")
    [decided] = todos(desk)
    assert (decided.pk, decided.type.name) == (todo.pk, TEAM)
    assert decided.description == "Ask the chef about wine in the ragù."
    assert decided.version == todo.version + 1


def test_before_the_end_only_promises_are_extracted(desk: Desk) -> None:
    promised(desk)
    finds(desk, {"quote": "Please do"}, {"quote": CHEF["quote"], "type": TEAM})
    desk.run("extraction")
    assert [todo.quote for todo in todos(desk)] == [CHEF["quote"]]


def test_an_edit_before_the_extraction_wins(desk: Desk) -> None:
    todo = promised(desk)
    with desk.tenant.tx():
        edit_todo(todo.pk, {"description": "I ask him myself."}, actor=LUCIA, version=todo.version)
        reject_todo(todo.pk, actor=LUCIA)
    finds(desk, {"quote": CHEF["quote"], "type": TEAM})
    desk.run("extraction")
    [same] = todos(desk)
    assert (same.description, same.type) == ("I ask him myself.", None)


def test_without_types_the_todo_is_created_and_no_model_called(desk: Desk) -> None:
    no_types(desk)
    assert promised(desk).type is None
    assert jobs(desk, "extraction") == []


@pytest.mark.parametrize(
    ("verb", "becomes"),
    [(reject_todo, PromiseState.WITHDRAWN), (cancel_todo, PromiseState.WITHDRAWN)],
)
def test_ending_a_todo_withdraws_its_promise_and_tells_the_agent_without_the_reason(desk: Desk, verb, becomes) -> None:
    todo = promised(desk)
    with desk.tenant.tx():
        verb(todo.pk, actor=LUCIA, reason="The chef is away.")
    [promise] = desk.promises()
    assert promise.state == becomes
    assert "The chef is away." in promise.reason
    undo_period_is_over(desk)
    desk.run("todo_news")
    [text] = told(desk)
    assert CHEF["quote"] in text
    assert "The chef is away." not in text


def test_a_promise_not_approved_in_time_is_broken(desk: Desk) -> None:
    todo = promised(desk)
    with desk.tenant.tx():
        expire_todo(todo)
    [promise] = desk.promises()
    assert (promise.state, promise.reason) == (PromiseState.BROKEN, "Nobody approved it in time.")


@pytest.mark.parametrize("answer", [mark_kept, withdraw_promise])
def test_a_promise_settled_by_a_person_cancels_its_todo_silently(desk: Desk, answer) -> None:
    todo = promised(desk)
    with desk.tenant.tx():
        answer(desk.tenant.project, todo.promise_id, by="Lucia")
    desk.run("todo_news")
    [ended] = todos(desk)
    assert ended.status == TodoStatus.CANCELLED
    assert "Lucia" in ended.reason
    assert "Lucia" in desk.promises()[0].reason
    assert told(desk) == []


def test_a_repeated_promise_shares_the_pending_todo_and_its_outcome(desk: Desk) -> None:
    """A later one is a new promise."""
    todo = promised(desk)
    assert promised(desk).pk == todo.pk
    with desk.tenant.tx():
        cancel_todo(todo.pk, actor=LUCIA)
    assert [promise.state for promise in desk.promises()] == [PromiseState.WITHDRAWN, PromiseState.WITHDRAWN]
    desk.reads(unserved=[CHEF])
    desk.analyse(f"{CHEF['quote']}.")
    assert [one.status for one in todos(desk)] == [TodoStatus.CANCELLED, TodoStatus.PENDING_REVIEW]


SENT = ("twilio", "completed", "kept", "effect")


@pytest.mark.parametrize(("adapter", "status", "state", "evidence"), [("", "needs_attention", "open", "outbox"), SENT])
def test_a_promise_whose_todo_runs_a_tool_is_kept_by_what_the_tool_did(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, adapter: str, status: str, state: str, evidence: str
) -> None:
    """Without a provider the text goes to the outbox."""
    if adapter:
        sent = Outcome.done("The text was sent.", result={"message": {}}, adapter=adapter)
        monkeypatch.setattr(outbox.Outbox, "send", AsyncMock(return_value=sent))
    with desk.tenant.tx():
        give_fields(desk.talk.conversation.persona, {"phone": "+393331234567"})
    todo = promised(desk)
    with desk.tenant.tx():
        todo = edit_todo(todo.pk, {"tool": SMS, "arguments": {"text": "The ragù is fine."}}, actor=LUCIA, version=None)
    approve(desk, todo)
    desk.run("todo", "todo_news")
    [promise] = desk.promises()
    assert [one.status for one in todos(desk)] == [status]
    assert (promise.state, promise.evidence) == (state, evidence)


@pytest.fixture
def twilio_api() -> Iterator[TwilioServer]:
    with TwilioServer() as server:
        yield server


def texted(desk: Desk, server: TwilioServer, settings: Any) -> Call:
    """A promise's todo texts the customer, and Twilio takes the text."""
    settings.BASE_URL, settings.OUTBOUND_ALLOW = PUBLIC, ["127.0.0.1"]
    connect_twilio(desk.tenant, server.url)
    with desk.tenant.tx():
        give_fields(desk.talk.conversation.persona, {"phone": "+393331234567"})
    todo = promised(desk)
    with desk.tenant.tx():
        todo = edit_todo(todo.pk, {"tool": SMS, "arguments": {"text": "The ragù is fine."}}, actor=LUCIA, version=None)
    approve(desk, todo)
    desk.run("todo", "todo_news")
    [call] = server.script.calls
    return call


def settled(desk: Desk) -> tuple[str, str, str, str]:
    [promise], [todo] = desk.promises(), todos(desk)
    return todo.status, promise.state, promise.evidence, promise.owner


def test_the_text_of_a_completed_todo_waits_for_its_receipt(
    desk: Desk, twilio_api: TwilioServer, settings: Any
) -> None:
    texted(desk, twilio_api, settings)
    assert settled(desk) == ("completed", "open", "sent", "tool")


@pytest.mark.parametrize(
    ("state", "end"), [("delivered", ("kept", "delivered", "")), ("undelivered", ("broken", "", ""))]
)
def test_the_receipt_of_a_completed_todos_text_settles_its_promise(
    desk: Desk, twilio_api: TwilioServer, settings: Any, state: str, end: tuple[str, str, str]
) -> None:
    call = texted(desk, twilio_api, settings)
    assert report(call, state).status_code == 200
    assert settled(desk) == ("completed", *end)


def test_without_a_receipt_the_promise_of_a_completed_todo_is_left_to_staff(
    desk: Desk, twilio_api: TwilioServer, settings: Any
) -> None:
    texted(desk, twilio_api, settings)
    with desk.tenant.tx():
        Effect.objects.update(receipt_due_at=timezone.now())
    end_overdue_receipts()
    assert settled(desk) == ("completed", "open", "", "staff")
