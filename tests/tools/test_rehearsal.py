"""Replay: an edited tool over the project's latest turns, without executing anything."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from conversations.evaluation import replay as rehearsals
from conversations.evaluation.replay import Kind, Rehearsed, read_rehearsal, rehearse
from conversations.models import Message, MessageRole, Turn, TurnStatus
from jobs.models import ModelCall
from tests.api.conftest import error_of
from tests.conftest import Tenant
from tests.conversations.conftest import begin
from tests.processes import ScriptedModel
from tests.tools.examples import event, webhook
from tools.engine.custom.current_tools import CurrentTool
from tools.engine.definition import ToolDefinition
from tools.models import Effect, Verdict

SMS = "I'll text you the details now."
HOURS = "We are open until ten tonight."
# The built-in SMS tool with a condition of the owner's own.
STRICTER = event(
    description="Sends the customer a text message (SMS) with information.",
    conditions={
        "agentPromised": {
            "type": "boolean",
            "description": "The agent commits, in this answer, to send a text message or SMS now.",
        },
        "aboutPrices": {"type": "boolean", "description": "The answer is about prices."},
    },
    useConversationHistory=False,
    conflictPolicy={"tag": "sms"},
)


@pytest.fixture(autouse=True)
def _model(model: ScriptedModel, settings: Any) -> None:
    settings.OPENAI_BASE_URL = model.base_url


def replied(tenant: Tenant, answer: str, *, fired: str = "") -> Turn:
    """A turn with a reply in its own conversation, and the verdict on it."""
    turn = begin(tenant, external_id=uuid4().hex).say("Hello?")
    with tenant.tx():
        reply = Message.objects.create(
            conversation=turn.conversation, turn=turn, seq=90, role=MessageRole.AGENT, content=answer
        )
        Turn.objects.filter(pk=turn.pk).update(status=TurnStatus.DONE, reply=reply, replied_at=timezone.now())
        if fired:
            Verdict.objects.create(
                conversation_id=turn.conversation_id, turn_id=turn.pk, tool=fired, fired=True, reason="x", quote=answer
            )
    return turn


def run(tenant: Tenant, name: str, document: Any, *, turns: int = 20) -> list[Rehearsed]:
    with tenant.tx():
        draft = CurrentTool(name, ToolDefinition.model_validate(document))
        read = read_rehearsal(tenant.project, [draft], turns=turns)

    async def collected() -> list[Rehearsed]:
        return [one async for one in rehearse(read)]

    return asyncio.run(collected())


def test_a_tool_changed_to_be_called_by_the_model_fires_no_more(tenant: Tenant) -> None:
    """No model is asked about it."""
    replied(tenant, SMS, fired="my_tool")
    [one] = run(tenant, "my_tool", {**webhook(), "moments": ["turn"]})
    assert [(difference.tool, difference.kind) for difference in one.differences] == [("my_tool", Kind.FIRES_NO_MORE)]
    with tenant.tx():
        assert not ModelCall.objects.exists()


def scripted(model: ScriptedModel, *, met: bool) -> None:
    conditions = [{"name": "agentPromised", "met": True}, {"name": "aboutPrices", "met": met}]
    reading = {"quote": SMS, "tool": "send_sms_tool", "conditions": conditions, "rule": None if met else "condition"}
    model.script("detect", json={"verdicts": [reading], "unserved": []})


def test_a_stricter_condition_shows_turns_that_would_no_longer_fire(tenant: Tenant, model: ScriptedModel) -> None:
    turn = replied(tenant, SMS, fired="send_sms_tool")
    scripted(model, met=False)
    [done] = run(tenant, "send_sms_tool", STRICTER)
    assert done.context.turn_id == turn.pk
    [difference] = done.differences
    assert (difference.tool, difference.kind) == ("send_sms_tool", Kind.FIRES_NO_MORE)
    assert difference.after
    assert (difference.after.rule, difference.after.quote) == ("condition", SMS)


def test_an_unchanged_verdict_is_no_difference(tenant: Tenant, model: ScriptedModel) -> None:
    replied(tenant, SMS, fired="send_sms_tool")
    scripted(model, met=True)
    assert [one.differences for one in run(tenant, "send_sms_tool", STRICTER)] == [[]]


def test_a_new_tool_shows_turns_that_would_have_fired(tenant: Tenant, model: ScriptedModel) -> None:
    replied(tenant, HOURS)
    replied(tenant, SMS)
    draft = {
        **STRICTER,
        "conditions": {"agentPromised": STRICTER["conditions"]["agentPromised"]},
        "conflictPolicy": None,
    }
    done = run(tenant, "text_tool", draft)
    kinds = {one.context.exchange.answer: [difference.kind for difference in one.differences] for one in done}
    assert kinds == {SMS: [Kind.FIRES], HOURS: []}


@pytest.mark.requirement("N40")
def test_only_tools_with_the_same_tag_are_evaluated_too(tenant: Tenant, model: ScriptedModel) -> None:
    """Only a shared tag can change another tool's verdict."""
    replied(tenant, HOURS)
    [done] = run(tenant, "text_tool", STRICTER)
    assert {tool.name for tool in done.context.tools} == {
        "text_tool",
        "send_sms_tool",
        "send_manage_booking_url_tool",
    }


def test_only_model_calls_are_stored(tenant: Tenant) -> None:
    replied(tenant, SMS)
    run(tenant, "send_sms_tool", STRICTER)
    with tenant.tx():
        assert not Verdict.objects.exists()
        assert not Effect.objects.exists()
        assert ModelCall.objects.filter(skill="detect", turn_id=None).exists()


def test_the_newest_turns_are_replayed_up_to_the_limit(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [replied(tenant, HOURS) for _ in range(3)]
    assert {one.context.turn_id for one in run(tenant, "text_tool", STRICTER, turns=2)} == {
        turn.pk for turn in turns[1:]
    }
    monkeypatch.setattr(rehearsals, "MAX_TURNS", 1)
    assert len(run(tenant, "text_tool", STRICTER, turns=50)) == 1


def test_a_failed_model_call_is_reported_for_its_turn(tenant: Tenant, model: ScriptedModel) -> None:
    replied(tenant, SMS)
    model.script("detect", times=0, fault="401")
    [done] = run(tenant, "text_tool", STRICTER)
    assert "answered 401" in done.error


def test_closing_the_stream_stops_the_model_calls(
    tenant: Tenant, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsals, "MAX_CONCURRENT", 1)
    for _ in range(4):
        replied(tenant, HOURS)
    with tenant.tx():
        draft = CurrentTool("text_tool", ToolDefinition.model_validate({**STRICTER, "conflictPolicy": None}))
        read = read_rehearsal(tenant.project, [draft])

    async def first_only() -> None:
        stream = rehearse(read)
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
        await asyncio.get_running_loop().shutdown_default_executor()

    asyncio.run(first_only())
    assert len(model.requests("detect")) < 4


def test_the_api_returns_the_differences(api: Client, tenant: Tenant, model: ScriptedModel) -> None:
    turn = replied(tenant, SMS, fired="send_sms_tool")
    scripted(model, met=False)
    body = {"tools": {"tools": {"send_sms_tool": STRICTER}}, "turns": 5}
    answer = api.post("/api/v1/tools/rehearse", json.dumps(body), content_type="application/json").json()
    assert answer["turns"] == 1
    [result] = answer["results"]
    assert (result["turn"], result["differences"][0]["kind"]) == (str(turn.pk), "fires_no_more")


@pytest.mark.parametrize("turns", [0, 51, "many"])
def test_at_most_50_turns_are_replayed_at_once(api: Client, turns: Any) -> None:
    body = {"tools": {"tools": {"text_tool": STRICTER}}, "turns": turns}
    response = api.post("/api/v1/tools/rehearse", json.dumps(body), content_type="application/json")
    assert error_of(response, status=400)["field"] == "turns"
