"""Todos seen from their conversation: its log, its promises, and what the agent knows of them."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.tool_runs.effects.approval import AWAITS_APPROVAL
from conversations.turns.services import give_fields
from projects.records.attributes import set_attribute
from tests.conversations.effects.conftest import target
from tests.conversations.effects.target import Target
from tests.todos.sources.conftest import CHEF, LUCIA, PROMISE, SMS, Desk, events, todos, told
from tests.todos.sources.test_requires_approval import CREW, approve, arranged, webhook_tool
from todos.content.lifecycle import transition
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import edit_todo, make_todo
from tools.engine.hooks import read_contact
from tools.models import PromiseState
from tools.services.messaging.sms import COUNTRIES

__all__ = ["target"]


def asked(desk: Desk, **details: Any) -> Todo:
    with desk.tenant.tx():
        return make_todo(
            desk.tenant.project,
            description="Pay Ann back",
            actor=LUCIA,
            **{"source": TodoSource.PERSON, "conversation_id": desk.talk.conversation.pk, **details},
        )


def test_the_log_records_a_todos_changes_in_order(desk: Desk) -> None:
    todo = asked(desk)
    with desk.tenant.tx():
        edit_todo(todo.pk, {"description": "Pay Ann back today"}, actor=LUCIA, version=1)
    desk.run("todo_news")
    news = events(desk, "todo_changed")
    assert [(one["todo"], one["what"]) for one in news] == [(str(todo.pk), "made"), (str(todo.pk), "edited")]


def test_the_agent_does_not_report_todos_without_a_promise(desk: Desk) -> None:
    todo = asked(desk)
    with desk.tenant.tx():
        transition(Todo.objects.get(pk=todo.pk), TodoStatus.REJECTED, what="rejected", actor=LUCIA)
    desk.run("todo_news")
    assert told(desk) == []


def test_a_todo_without_a_conversation_logs_nothing(desk: Desk) -> None:
    asked(desk, conversation_id=None)
    desk.run("todo_news")
    assert events(desk, "todo_changed") == []


def test_a_completed_todo_keeps_its_promise(desk: Desk) -> None:
    desk.reads(unserved=[CHEF])
    desk.analyse(f"{CHEF['quote']}.")
    [todo] = todos(desk)
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(status=TodoStatus.IN_PROGRESS)
        transition(Todo.objects.get(pk=todo.pk), TodoStatus.COMPLETED, what="completed", actor=LUCIA)
    [promise] = desk.promises()
    assert (promise.state, promise.reason) == (PromiseState.KEPT, "A colleague saw to it.")


def test_a_failed_todo_breaks_its_promise_and_can_keep_it_late(desk: Desk) -> None:
    desk.reads(unserved=[CHEF])
    desk.analyse(f"{CHEF['quote']}.")
    [todo] = todos(desk)
    seen = []
    with desk.tenant.tx():
        for status in (TodoStatus.FAILED, TodoStatus.COMPLETED):
            Todo.objects.filter(pk=todo.pk).update(status=TodoStatus.IN_PROGRESS)
            transition(Todo.objects.get(pk=todo.pk), status, what=status, actor=LUCIA)
            seen.append(todo.promise.__class__.objects.get(pk=todo.promise_id).state)
    assert seen == [PromiseState.BROKEN, PromiseState.KEPT]


def test_a_failed_approved_tool_breaks_its_promise_and_is_reported(desk: Desk) -> None:
    """The project no longer texts the number's country."""
    with desk.tenant.tx():
        give_fields(desk.talk.conversation.persona, {"phone": "+393331234567"})
    approve(desk, arranged(desk))
    with desk.tenant.tx():
        set_attribute(desk.tenant.project, COUNTRIES, "DE")
    desk.run("todo", "todo_news")
    [promise] = desk.promises()
    assert promise.state == PromiseState.BROKEN
    [text] = told(desk)
    assert "Texts to IT aren't allowed here" in text


def test_a_completed_approved_tool_is_reported_once(desk: Desk) -> None:
    with desk.tenant.tx():
        give_fields(desk.talk.conversation.persona, {"phone": "+393331234567"})
    approve(desk, arranged(desk))
    desk.run("todo", "todo_news", "effect")
    assert len(told(desk)) == 1
    assert [payload["state"] for payload in events(desk, "effect_done")] == ["done"]


@pytest.mark.requirement("N44")
def test_a_tools_event_is_logged_when_it_is_done(desk: Desk) -> None:
    with desk.tenant.tx():
        give_fields(desk.talk.conversation.persona, {"phone": "+393331234567"})
    todo = arranged(desk)
    assert events(desk, SMS) == []
    approve(desk, todo)
    desk.run("todo", "todo_news")
    assert events(desk, SMS) == [{"effect": str(todo.effect_id), "arguments": todo.arguments}]


@pytest.mark.requirement("N46")
def test_its_after_actions_run_and_replace_the_standard_message(desk: Desk, target: Target, settings: Any) -> None:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    after = [{"type": "send_urgent_message", "options": {"prefix": "Crew", "message": "They know."}}]
    webhook_tool(desk, url=target.url, after_actions=after)
    desk.reads(CREW)
    desk.analyse(PROMISE)
    desk.model.script("arguments", json={"body": {"note": "Two highchairs"}})
    desk.run("effect")
    assert told(desk) == [AWAITS_APPROVAL.format(tool=CREW, quote=PROMISE)]
    approve(desk, todos(desk)[0])
    desk.run("todo", "todo_news", "effect")
    assert [heard.document for heard in target.log] == [{"note": "Two highchairs"}]
    assert told(desk)[1:] == ["Crew: They know."]


def test_a_contact_has_the_customers_current_fields(desk: Desk, stranger: Any) -> None:
    persona = desk.talk.conversation.persona
    with desk.tenant.tx():
        give_fields(persona, {"name": "Ann Lee", "email": "ann@example.com"})
        found = read_contact(persona.pk)
        assert (found.name, found.email, found.phone) == ("Ann Lee", "ann@example.com", "")
    with stranger.tx():
        assert read_contact(persona.pk) is None
