"""A changed mind: what was planned with the old value does not go out."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from conversations.flows import effects
from conversations.live.event_log import open_log
from conversations.turns.services import give_fields
from jobs.errors import WrongState
from projects.models import Member
from tests.conversations.memory.conftest import VISIT, exchange, last_prompt, later, section
from tests.conversations.pipeline.conftest import configure
from tests.conversations.promises.conftest import SMS, Desk
from todos.content.lifecycle import Actor
from todos.content.snapshot import content_of, hash_of
from todos.models import Todo, TodoStatus
from todos.services import approve_todo
from tools.models import Effect, EffectState, Evidence, PromiseState

BOOK = "book_dinner_tool"
PROMISE = "I'll pass your dinner on to the kitchen."
SEVEN = {"body": {"day": "2026-11-27", "time": "19:00", "note": "at the window"}}
SCHEMA = {
    "type": "object",
    "properties": {"day": {"type": "string"}, "time": {"type": "string"}, "note": {"type": "string"}},
    "required": ["day", "time", "note"],
}


@pytest.fixture
def desk(desk: Desk) -> Desk:
    configure(desk.tenant, observer_fields=VISIT)
    desk.tool(BOOK, requires_approval=True, action=webhook())
    return desk


def webhook() -> dict[str, Any]:
    return {"type": "send_webhook", "options": {"url": "https://kitchen.example.com/dinners", "body": SCHEMA}}


def promised(desk: Desk, arguments: dict[str, Any] = SEVEN, *, words: str = "Friday at 7", **facts: str) -> Todo:
    """A booking that the agent promised in this turn and that waits for approval."""
    desk.reads(BOOK, quote=PROMISE)
    exchange(desk, words, reply=PROMISE, **facts)
    desk.model.script("arguments", json=arguments)
    desk.run("effect")
    with desk.tenant.tx():
        return Todo.objects.select_related("effect").latest("created_at")


def read(field: str, value: str) -> dict[str, str]:
    return {"quote": value, "field": field, "value": value, "confidence": "stated"}


def state(desk: Desk, todo: Todo) -> tuple[str, str]:
    """The states of the todo and of its effect."""
    with desk.tenant.tx():
        todo = Todo.objects.select_related("effect").get(pk=todo.pk)
        assert todo.effect is not None
        return todo.status, todo.effect.state


def approve(desk: Desk, todo: Todo) -> None:
    with desk.tenant.tx():
        owner = Member.objects.select_related("user").get(user=desk.tenant.owner)
        seen = hash_of(content_of(Todo.objects.select_related("project", "type", "effect").get(pk=todo.pk)))
        approve_todo(todo.pk, version=todo.version, content_hash=seen, actor=Actor("Nello", owner.pk), member=owner)


@pytest.mark.parametrize("is_approved", [False, True])
def test_a_planned_effect_with_the_old_time_is_cancelled_with_its_todo(is_approved: bool, desk: Desk) -> None:
    todo = promised(desk, date="Friday", time="7")
    if is_approved:
        approve(desk, todo)
    exchange(desk, "Make it 8 instead", time="8")
    assert state(desk, todo) == (TodoStatus.CANCELLED, EffectState.CANCELLED)
    assert [promise.state for promise in desk.promises()] == [PromiseState.WITHDRAWN]


def test_a_cancelled_todo_can_no_longer_be_approved(desk: Desk) -> None:
    todo = promised(desk, time="7")
    exchange(desk, "Make it 8 instead", time="8")
    with pytest.raises(WrongState):
        approve(desk, todo)


def test_staff_reads_what_the_customer_changed(desk: Desk, api: Client) -> None:
    todo = promised(desk, time="7")
    exchange(desk, "Make it 8 instead", time="8")
    assert "changed time from “7” to “8”" in api.get(f"/api/v1/todos/{todo.pk}").json()["reason"]


def test_the_agent_is_told_once_and_speaks_up(desk: Desk) -> None:
    promised(desk, time="7")
    exchange(desk, "Make it 8 instead", time="8")
    told = section(last_prompt(desk.model, "reply"), "UrgentMessages")
    assert told.count("changed time from “7” to “8”") == 1


def test_the_new_promise_goes_out_with_the_new_time(desk: Desk) -> None:
    """Of the old and the new effect, only the new one is left."""
    old = promised(desk, time="7")
    eight = {"body": {**SEVEN["body"], "time": "20:00"}}
    new = promised(desk, eight, words="Make it 8 instead", time="8")
    assert state(desk, old) == (TodoStatus.CANCELLED, EffectState.CANCELLED)
    assert state(desk, new) == (TodoStatus.PENDING_REVIEW, EffectState.PLANNED)
    assert new.arguments == eight


def test_the_arguments_of_the_old_effect_are_never_rewritten(desk: Desk) -> None:
    todo = promised(desk, time="7")
    asked = len(desk.model.requests("arguments"))
    exchange(desk, "Make it 8 instead", time="8")
    desk.run("effect")
    with desk.tenant.tx():
        assert Effect.objects.get(pk=todo.effect_id).arguments == SEVEN
    assert len(desk.model.requests("arguments")) == asked


def test_an_argument_of_another_name_is_found_by_the_old_value(desk: Desk) -> None:
    todo = promised(desk, {"body": {"day": "Friday", "time": "", "note": ""}}, date="Friday")
    exchange(desk, "Saturday would be better", date="Saturday")
    assert state(desk, todo) == (TodoStatus.CANCELLED, EffectState.CANCELLED)


@pytest.mark.parametrize(
    "changed",
    [{"guests": "5"}, {"time": "7"}, {"diet": "vegan"}, {"language": "it"}, {"sms_opt_in": "true"}],
    ids=lambda changed: next(iter(changed)),
)
def test_what_the_effect_does_not_use_leaves_it_planned(changed: dict[str, str], desk: Desk) -> None:
    todo = promised(desk, time="7", guests="4", diet="none", language="en", sms_opt_in="false")
    exchange(desk, "One more thing", **changed)
    assert state(desk, todo) == (TodoStatus.PENDING_REVIEW, EffectState.PLANNED)


def test_an_opt_in_is_never_taken_for_an_argument(desk: Desk) -> None:
    todo = promised(desk, {"body": {**SEVEN["body"], "note": "false"}}, sms_opt_in="false")
    exchange(desk, "You may text me after all", sms_opt_in="true")
    assert state(desk, todo) == (TodoStatus.PENDING_REVIEW, EffectState.PLANNED)


def test_the_turn_that_changed_the_value_keeps_its_own_effect(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The observer may be later than the effect of the same turn."""
    monkeypatch.setattr(effects, "OBSERVER_PATIENCE_SECONDS", 0.0)
    exchange(desk, "Friday at 7", time="7")
    desk.reads(BOOK, quote=PROMISE)
    desk.model.script("reply", text=PROMISE)
    desk.model.script("arguments", json={"body": {**SEVEN["body"], "time": "20:00"}})
    desk.talk.say("Make it 8")
    desk.run("reply", "tool_caller", "effect")
    desk.model.script("observer", json={"facts": [read("time", "8")], "quality": None})
    desk.run("observer")
    with desk.tenant.tx():
        todo = Todo.objects.get()
    assert state(desk, todo) == (TodoStatus.PENDING_REVIEW, EffectState.PLANNED)


def test_an_effect_that_is_tried_again_later_is_cancelled_and_told(desk: Desk) -> None:
    """Nothing reached the address so far, so nothing has to be undone."""
    desk.tool("pass_on_tool", action=webhook())
    desk.reads("pass_on_tool", quote=PROMISE)
    exchange(desk, "Friday at 7", reply=PROMISE, time="7")
    desk.model.script("arguments", json=SEVEN)
    desk.run("effect")
    [effect] = desk.effects()
    assert (effect.state, effect.attempts) == (EffectState.PLANNED, 1)
    exchange(desk, "Make it 8 instead", time="8")
    assert [effect.state for effect in desk.effects()] == [EffectState.CANCELLED]
    assert [promise.state for promise in desk.promises()] == [PromiseState.WITHDRAWN]
    assert "changed time" in section(last_prompt(desk.model, "reply"), "UrgentMessages")


def test_an_effect_that_was_sent_keeps_its_outcome(desk: Desk) -> None:
    with desk.tenant.tx():
        give_fields(desk.talk.reload().persona, {"phone": "+393331234567"})
    desk.reads(SMS)
    exchange(desk, "Text me: Friday at 7", reply="I'll send you an SMS with the reservation details.", time="7")
    desk.model.script("arguments", json={"text": "7"})
    desk.run("effect")
    exchange(desk, "Make it 8 instead", time="8")
    assert [effect.state for effect in desk.effects()] == [EffectState.DONE]


def test_a_message_that_an_operator_answers_cancels_it_too(desk: Desk) -> None:
    todo = promised(desk, time="7")
    with desk.tenant.tx(), open_log(desk.talk.conversation.pk) as log:
        log.conversation.operator = desk.tenant.owner
    desk.model.script("observer", json={"facts": [read("time", "8")], "quality": None})
    desk.talk.say("Make it 8 instead")
    desk.run("observer")
    assert state(desk, todo) == (TodoStatus.CANCELLED, EffectState.CANCELLED)


def test_another_conversation_of_the_customer_keeps_its_effect(desk: Desk) -> None:
    todo = promised(desk, time="7")
    other = later(desk)
    exchange(other, "For lunch, at 1", time="1")
    exchange(other, "Rather at 2", time="2")
    assert state(desk, todo) == (TodoStatus.PENDING_REVIEW, EffectState.PLANNED)


@pytest.mark.parametrize(
    ("refused", "ends_as"), [("sms_opt_in", PromiseState.WITHDRAWN), ("email_opt_in", PromiseState.OPEN)]
)
def test_the_promise_of_an_unsent_text_ends_with_the_wish_for_texts(
    refused: str, ends_as: PromiseState, desk: Desk
) -> None:
    quote = "I'll text you the details."
    with desk.tenant.tx():
        give_fields(desk.talk.reload().persona, {"phone": "+393331234567"})
    desk.reads(SMS, quote=quote)
    exchange(desk, "Text me, please", reply=quote)
    desk.model.script("arguments", json={"text": "Via Roma 1."})
    desk.run("effect")
    assert [promise.evidence for promise in desk.promises()] == [Evidence.OUTBOX]
    exchange(desk, "Actually no, don't", **{refused: "false"})
    assert [promise.state for promise in desk.promises()] == [ends_as]
