"""Promises of a tool whose event nobody is subscribed to: they become todos, as those without a tool do."""

from __future__ import annotations

import pytest

from tests.conversations.promises.conftest import PROMISE
from tests.todos.sources.conftest import Desk, todos
from todos.models import TodoSource, TodoStatus
from tools.engine.events.service import SubscriptionEdit, add_subscription
from tools.engine.promises import UNHEARD
from tools.models import SubscriptionTarget

EVENT = "tell_kitchen"


@pytest.fixture
def kitchen(desk: Desk) -> Desk:
    """A project with a tool of its own that has no action, which means `send_event`."""
    desk.tool(EVENT, is_heard=False)
    desk.reads(EVENT)
    return desk


def test_a_promise_that_nobody_hears_of_creates_a_todo(kitchen: Desk) -> None:
    kitchen.analyse(PROMISE)
    [promise], [todo] = kitchen.promises(), todos(kitchen)
    assert (promise.state, promise.reason, promise.effect_id) == ("open", UNHEARD, None)
    assert (todo.source, todo.status, todo.promise_id) == (TodoSource.PROMISE, TodoStatus.PENDING_REVIEW, promise.pk)
    assert todo.quote == PROMISE


def test_it_has_no_effect(kitchen: Desk) -> None:
    """The verdict fired, and nothing was sent."""
    turn = kitchen.analyse(PROMISE)
    assert [(verdict["tool"], verdict["fired"]) for verdict in turn["verdicts"]] == [(EVENT, True)]
    assert turn["effects"] == []


def test_a_promise_with_a_subscriber_creates_no_todo(kitchen: Desk) -> None:
    with kitchen.tenant.tx():
        edit = SubscriptionEdit(target=SubscriptionTarget.STREAM, events=(EVENT,))
        add_subscription(kitchen.tenant.project, edit)
    turn = kitchen.analyse(PROMISE)
    [promise] = kitchen.promises()
    assert (str(promise.effect_id), todos(kitchen)) == (turn["effects"][0]["id"], [])
