"""Tools marked `requires_approval`, which run only after their exact arguments are approved."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.models import Wait
from conversations.turns.services import give_fields
from projects.models import Member
from projects.records.attributes import set_attribute
from tests.todos.sources.conftest import LUCIA, PROMISE, SMS, Desk, events, todos, told
from todos.content.lifecycle import Actor
from todos.content.snapshot import content_of, hash_of
from todos.models import StandingRule, Todo, TodoSource, TodoStatus
from todos.services import approve_todo, cancel_todo, expire_todo, reject_todo
from tools.engine.catalogue import approval_setting, compile_tools
from tools.engine.promises import STAFF_DEADLINE
from tools.engine.validation.problem import DefinitionRefused
from tools.models import Effect, EffectState, Evidence, PromiseState

CREW = "notify_crew_tool"
BODY = {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}
TEXT = {"text": "Your table is booked."}


def arranged(desk: Desk) -> Todo:
    """The todo of a promised text message that needs approval."""
    with desk.tenant.tx():
        set_attribute(desk.tenant.project, approval_setting(SMS), True)
    return promised(desk)


def promised(desk: Desk) -> Todo:
    desk.reads(SMS)
    desk.analyse(PROMISE)
    desk.model.script("arguments", json=TEXT)
    desk.run("effect")
    [todo] = todos(desk)
    return todo


def approve(desk: Desk, todo: Todo) -> None:
    with desk.tenant.tx():
        owner = Member.objects.select_related("user").get(user=desk.tenant.owner)
        seen = hash_of(content_of(Todo.objects.select_related("project", "type").get(pk=todo.pk)))
        approve_todo(todo.pk, version=todo.version, content_hash=seen, actor=Actor("Nello", owner.pk), member=owner)


def webhook_tool(desk: Desk, *, after_actions: Any = (), **options: Any) -> None:
    options = {"url": "https://crew.example.com/notes", "body": BODY, **options}
    action = {"type": "send_webhook", "options": options}
    desk.tool(CREW, requires_approval=True, action=action, after_actions=list(after_actions))


def test_its_planned_effect_becomes_a_todo_with_the_same_arguments(desk: Desk) -> None:
    todo = arranged(desk)
    [effect] = desk.effects()
    assert (todo.source, todo.status) == (TodoSource.TOOL, TodoStatus.PENDING_REVIEW)
    assert (todo.tool, todo.arguments, todo.effect_id) == (SMS, TEXT, effect.pk)
    assert (todo.quote, todo.promise_id) == (PROMISE, desk.promises()[0].pk)
    assert (effect.state, effect.attempts) == (EffectState.PLANNED, 0)


def test_a_tool_without_approval_creates_no_todo(desk: Desk) -> None:
    desk.reads(SMS)
    desk.analyse(PROMISE)
    desk.model.script("arguments", json=TEXT)
    desk.run("effect")
    assert todos(desk) == []


def test_a_custom_tool_requires_approval_by_its_definition(desk: Desk) -> None:
    webhook_tool(desk)
    desk.reads(CREW)
    desk.analyse(PROMISE)
    desk.model.script("arguments", json={"body": {"note": "Two highchairs"}})
    desk.run("effect")
    [todo] = todos(desk)
    assert (todo.tool, todo.arguments) == (CREW, {"body": {"note": "Two highchairs"}})


def test_waiting_for_it_ends_with_the_answer_that_approval_is_needed(desk: Desk) -> None:
    webhook_tool(desk, wait_seconds=60)
    desk.reads(CREW)
    desk.analyse(PROMISE)
    desk.model.script("arguments", json={"body": {"note": "Two highchairs"}})
    desk.run("effect")
    with desk.tenant.tx():
        assert Wait.objects.get().ended_at is not None
    [text] = told(desk)
    assert "has to approve it first" in text


def test_its_promise_has_the_deadline_of_manual_work(desk: Desk) -> None:
    arranged(desk)
    [promise] = desk.promises()
    assert promise.due_at - promise.created_at == STAFF_DEADLINE


def test_an_approved_call_runs_once_and_settles_its_promise(desk: Desk) -> None:
    """The outbox has one text, so the promise is not sent and the todo still needs attention."""
    with desk.tenant.tx():
        give_fields(desk.talk.conversation.persona, {"phone": "+393331234567"})
    todo = arranged(desk)
    approve(desk, todo)
    desk.run("todo", "todo_news", "effect")
    [effect] = desk.effects()
    assert (effect.state, effect.attempts) == (EffectState.DONE, 1)
    assert [promise.evidence for promise in desk.promises()] == [Evidence.OUTBOX]
    assert [one.status for one in todos(desk)] == [TodoStatus.NEEDS_ATTENTION]
    assert any(payload["state"] == "done" for payload in events(desk, "effect_done"))


@pytest.mark.parametrize("verb", [reject_todo, cancel_todo])
def test_rejecting_it_cancels_the_effect_withdraws_the_promise_and_is_told_without_the_reason(
    desk: Desk, verb: Any
) -> None:
    todo = arranged(desk)
    with desk.tenant.tx():
        verb(todo.pk, actor=LUCIA, reason="The number is wrong.")
    desk.run("todo_news")
    [effect], [promise] = desk.effects(), desk.promises()
    assert (effect.state, promise.state) == (EffectState.CANCELLED, PromiseState.WITHDRAWN)
    assert "The number is wrong." in promise.reason
    assert told(desk)
    assert "The number is wrong." not in str(events(desk, "urgent_message"))


def test_an_expired_todo_breaks_its_promise(desk: Desk) -> None:
    todo = arranged(desk)
    with desk.tenant.tx():
        expire_todo(todo)
    [effect], [promise] = desk.effects(), desk.promises()
    assert (effect.state, promise.state) == (EffectState.CANCELLED, PromiseState.BROKEN)
    assert promise.reason == "Nobody approved it in time."


def test_a_standing_rule_approves_it_at_once(desk: Desk) -> None:
    with desk.tenant.tx():
        set_attribute(desk.tenant.project, approval_setting(SMS), True)
        owner = Member.objects.get(user=desk.tenant.owner)
        allowed = {"text": {"anything": True}}
        StandingRule.objects.create(project=desk.tenant.project, tool=SMS, allowed=allowed, created_by=owner.pk)
        give_fields(desk.talk.conversation.persona, {"phone": "+393331234567"})
    todo = promised(desk)
    assert todo.status == TodoStatus.APPROVED
    assert events(desk, "effect_awaits_approval") == []


def test_a_repeat_is_held_before_approval(desk: Desk) -> None:
    with desk.tenant.tx():
        give_fields(desk.talk.conversation.persona, {"phone": "+393331234567"})
    todo = arranged(desk)
    with desk.tenant.tx():
        first = Effect.objects.get(pk=todo.effect_id)
        Effect.objects.filter(pk=first.pk).update(state=EffectState.DONE, started_at=first.created_at)
    desk.reads(SMS)
    desk.analyse(PROMISE)
    desk.model.script("arguments", json=TEXT)
    desk.model.script("arguments", json={"quote": "", "asked_again": False})
    desk.run("effect")
    assert [one.state for one in desk.effects()] == [EffectState.DONE, EffectState.HELD]
    assert len(todos(desk)) == 1


def promised_again(desk: Desk, *, asks: str = "") -> None:
    """The agent promises the same again before it is approved."""
    desk.reads(SMS)
    desk.analyse(PROMISE, hears=asks or "Please do")
    desk.model.script("arguments", json=TEXT)
    desk.model.script("arguments", json={"quote": asks, "asked_again": bool(asks)})
    desk.run("effect")


def test_a_second_promise_is_held_while_the_first_is_pending(desk: Desk) -> None:
    """Both promises share one todo and its outcome."""
    with desk.tenant.tx():
        give_fields(desk.talk.conversation.persona, {"phone": "+393331234567"})
    todo = arranged(desk)
    promised_again(desk)
    first, second = desk.effects()
    assert [one.pk for one in todos(desk)] == [todo.pk]
    assert (second.state, second.repeats) == (EffectState.HELD, first.pk)
    assert "waits for a colleague" in second.told
    approve(desk, todo)
    desk.run("todo", "todo_news")
    assert [promise.evidence for promise in desk.promises()] == [Evidence.OUTBOX, Evidence.OUTBOX]


def test_a_second_promise_after_approval_is_not_reported_as_pending(desk: Desk) -> None:
    """No worker has run it yet."""
    with desk.tenant.tx():
        give_fields(desk.talk.conversation.persona, {"phone": "+393331234567"})
    approve(desk, arranged(desk))
    promised_again(desk)
    first, second = desk.effects()
    assert (first.state, second.state, second.repeats) == (EffectState.PLANNED, EffectState.HELD, first.pk)
    assert second.told.startswith("The same is allowed and being done now")


def test_rejection_ends_both_promises_of_one_effect(desk: Desk) -> None:
    with desk.tenant.tx():
        give_fields(desk.talk.conversation.persona, {"phone": "+393331234567"})
    todo = arranged(desk)
    promised_again(desk)
    with desk.tenant.tx():
        reject_todo(todo.pk, actor=LUCIA, reason="The number is wrong.")
    assert [promise.state for promise in desk.promises()] == [PromiseState.WITHDRAWN, PromiseState.WITHDRAWN]


def test_a_repeat_requested_by_the_customer_is_a_separate_todo(desk: Desk) -> None:
    arranged(desk)
    promised_again(desk, asks="Send it to me twice, please")
    assert [one.state for one in desk.effects()] == [EffectState.PLANNED, EffectState.PLANNED]
    assert len(todos(desk)) == 2


def test_a_rejected_todo_holds_back_no_repeat(desk: Desk) -> None:
    todo = arranged(desk)
    with desk.tenant.tx():
        reject_todo(todo.pk, actor=LUCIA)
    promised_again(desk)
    assert [one.status for one in todos(desk)] == [TodoStatus.REJECTED, TodoStatus.PENDING_REVIEW]


def test_an_effect_approved_by_a_rule_is_reported_only_when_done(desk: Desk) -> None:
    with desk.tenant.tx():
        give_fields(desk.talk.conversation.persona, {"phone": "+393331234567"})
        set_attribute(desk.tenant.project, approval_setting(SMS), True)
        owner = Member.objects.get(user=desk.tenant.owner)
        StandingRule.objects.create(
            project=desk.tenant.project, tool=SMS, allowed={"text": {"anything": True}}, created_by=owner.pk
        )
    assert promised(desk).status == TodoStatus.APPROVED
    assert (told(desk), events(desk, "effect_done"), action_of(desk)) == ([], [], "allowed already and being done")
    assert [promise.state for promise in desk.promises()] == [PromiseState.OPEN]
    desk.run("todo", "todo_news")
    assert (len(events(desk, "effect_done")), action_of(desk)) == (1, "done")


def test_waiting_for_an_effect_approved_by_a_rule_ends_when_it_is_done(desk: Desk) -> None:
    webhook_tool(desk, wait_seconds=60)
    with desk.tenant.tx():
        owner = Member.objects.get(user=desk.tenant.owner)
        allowed = {"body": {"anything": True}}
        StandingRule.objects.create(project=desk.tenant.project, tool=CREW, allowed=allowed, created_by=owner.pk)
    desk.reads(CREW)
    desk.analyse(PROMISE)
    desk.model.script("arguments", json={"body": {"note": "Two highchairs"}})
    desk.run("effect")
    with desk.tenant.tx():
        assert (Wait.objects.get().ended_at, told(desk)) == (None, [])


def action_of(desk: Desk) -> str:
    """The text message in the prompt of the next reply."""
    desk.talk.say("Did you send it?")
    desk.run("reply")
    prompt = "\n".join(str(message["content"]) for message in desk.model.requests("reply")[-1]["messages"])
    return str(prompt.partition(f"{SMS}: ")[2].partition("\n")[0].partition(",")[0])


def test_the_prompt_says_that_approval_is_needed(desk: Desk) -> None:
    arranged(desk)
    desk.talk.say("Did you send it?")
    desk.run("reply")
    prompt = str(desk.model.requests("reply")[-1]["messages"])
    assert f"{SMS}: being looked at by a colleague, who has to approve it first" in prompt


@pytest.mark.parametrize("action", [{"type": "send_urgent_message"}, {"type": "send_event"}])
def test_a_tool_that_must_run_at_once_cannot_require_approval(desk: Desk, action: dict[str, str]) -> None:
    with pytest.raises(DefinitionRefused, match="can't wait for approval"):
        desk.tool(CREW, requires_approval=True, action=action)


def test_only_true_requires_approval(desk: Desk) -> None:
    with pytest.raises(DefinitionRefused, match="requires_approval must be true or false"):
        desk.tool(CREW, requires_approval="yes")


def test_tools_that_need_a_conversation_cannot_require_approval(desk: Desk) -> None:
    with desk.tenant.tx():
        set_attribute(desk.tenant.project, approval_setting("transfer_call_tool"), True)
        compiled = {tool.name: tool for tool in compile_tools(desk.tenant.project, channel="phone")}
    assert compiled["transfer_call_tool"].definition.requires_approval is False


def test_the_setting_belongs_to_the_project(desk: Desk, stranger: Any) -> None:
    with desk.tenant.tx():
        set_attribute(desk.tenant.project, approval_setting(SMS), True)
    for tenant, wanted in ((desk.tenant, True), (stranger, False)):
        with tenant.tx():
            compiled = {tool.name: tool for tool in compile_tools(tenant.project, channel="chat")}
        assert compiled[SMS].definition.requires_approval is wanted
