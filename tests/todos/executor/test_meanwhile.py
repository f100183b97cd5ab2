"""Concurrent effects for one customer, by a todo and a turn or by two conversations."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models import F

from conversations.live.event_log import open_log
from conversations.models import TurnCall
from conversations.tool_runs.calls.start import start_calls
from conversations.turns.services import start_conversation
from tenancy.ids import uuid7
from tests.concurrent import is_anybody_waiting
from tests.conversations.threads import in_thread
from tests.processes import until
from tests.todos.executor.conftest import Runs
from tools.engine import ledger
from tools.engine.execution.limits import find_limit
from tools.engine.policy import POLICIES
from tools.models import Effect, EffectState

CALLER = "send_email_to_caller"


def like(effect: Effect, **changes: object) -> Effect:
    """Plan another effect like this one."""
    fresh = {"pk": uuid7(), "effect_key": uuid4().hex, "state": EffectState.PLANNED, "attempts": 0, "started_at": None}
    for name, value in {**fresh, **changes}.items():
        setattr(effect, name, value)
    effect.save(force_insert=True)
    return effect


@pytest.fixture
def done(runs: Runs) -> Effect:
    """An e-mail sent to the customer the day before."""
    [effect] = runs.effects(runs.execute(runs.frozen()))
    with runs.tenant.tx():
        Effect.objects.update(started_at=F("started_at") - timedelta(days=2))
    return effect


def test_a_todo_does_not_repeat_an_effect_that_a_turn_starts_concurrently(runs: Runs, done: Effect) -> None:
    runs.calls_tool(CALLER)
    runs.says()
    todo = runs.approved(runs.todo(runs.kind(CALLER)))
    with ThreadPoolExecutor(1) as pool:
        with runs.tenant.tx(), open_log(runs.conversation.pk):
            ledger.begin_sending(like(done))
            run = in_thread(pool, lambda: runs.run(todo))
            until(lambda: run.done() or is_anybody_waiting(), what="the todo's end, or its waiting")
        run.result()
    assert [effect.state for effect in runs.effects(todo)] == [EffectState.HELD]


def test_concurrent_conversations_share_a_recipients_daily_limit(
    runs: Runs, done: Effect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(POLICIES, "email", replace(POLICIES["email"], max_per_recipient=1))
    with runs.tenant.tx():
        other = start_conversation(runs.tenant.project, channel="chat", external_id="bob", known={}, metadata={})

    def begin(effect: Effect) -> str:
        with runs.tenant.tx():
            reached = find_limit(like(effect, conversation_id=other.pk))
            return reached.reason if reached else ""

    with ThreadPoolExecutor(1) as pool:
        with runs.tenant.tx():
            first = like(Effect.objects.get(pk=done.pk))
            assert find_limit(first) is None
            ledger.begin_sending(first)
            second = in_thread(pool, lambda: begin(done))
            until(lambda: second.done() or is_anybody_waiting(), what="the other's end, or their waiting")
        assert "went to this recipient within a day" in str(second.result())


def test_starting_two_effects_in_opposite_orders_does_not_deadlock(runs: Runs, done: Effect) -> None:
    """Locks are taken in one order."""
    with runs.tenant.tx():
        other = start_conversation(runs.tenant.project, channel="chat", external_id="bob", known={}, metadata={})

    def begin_both() -> None:
        with runs.tenant.tx(), open_log(other.pk) as log:
            kinds = ("sms", "email")
            both = [like(copy(done), kind=kind, repeat_key=kind, conversation_id=other.pk) for kind in kinds]
            start_calls(log, [TurnCall(effect=effect) for effect in both], asked_again=True)

    with ThreadPoolExecutor(1) as pool:
        with runs.tenant.tx():
            first = Effect.objects.get(pk=done.pk)
            find_limit(like(first, kind="email"))
            second = in_thread(pool, begin_both)
            until(lambda: second.done() or is_anybody_waiting(), what="their waiting")
            find_limit(like(first, kind="sms"))
        second.result()
