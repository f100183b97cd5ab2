"""Tool calls of a live session are steps of its turns, as in a chat."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.test import Client

from conversations.flows import effects
from conversations.models import Conversation
from conversations.voice import tool_calls
from conversations.voice.tool_calls import LiveCall, handle_tool_call
from conversations.voice.updates import UpdatesCursor, update_frames
from projects.records.attributes import set_attribute
from tests.conversations.voice.conftest import Voice
from tools.engine.function_calling.contexts import read_context
from tools.engine.transfers import TRANSFER_NUMBERS

KITCHEN = "+390655501140"


@pytest.fixture
def call(voice: Voice) -> Voice:
    with voice.tenant.tx():
        set_attribute(voice.tenant.project, TRANSFER_NUMBERS, f"kitchen: {KITCHEN}")
    return voice


def run(voice: Voice, name: str, arguments: str = "{}", *, call_id: str = "c1") -> Any:
    ids = {"business_id": voice.tenant.project.pk, "conversation_id": voice.conversation.pk}
    document = {"channel": "phone", "callerPhone": "", "interactionId": str(voice.conversation.pk)}
    request = LiveCall(
        organization_id=voice.tenant.organization.pk,
        project_id=voice.tenant.project.pk,
        conversation_id=voice.conversation.pk,
        call_id=call_id,
        name=name,
        arguments_json=arguments,
        context=read_context(document, channel="phone", **ids),
    )
    return asyncio.run(handle_tool_call(request))


def turn(voice: Voice, turn_id: Any) -> dict[str, Any]:
    path = f"/api/v1/conversations/{voice.conversation.pk}/turns/{turn_id}"
    return dict(Client(headers=voice.tenant.headers).get(path).json())


def calls(payload: dict[str, Any]) -> list[tuple[str, str, bool]]:
    return [(one["tool"], one["result"], one["is_error"]) for step in payload["steps"] for one in step["calls"]]


def test_a_call_belongs_to_the_turn_of_the_words_after_it(call: Voice) -> None:
    call.report("caller_said", text="Do you have parking?")
    answer = run(call, "search_knowledge", '{"query": "parking"}')
    [said] = call.report("agent_said", text="I don't know, I'm afraid.")["turns"]
    payload = turn(call, said["id"])
    assert payload["tools_called"] is True
    assert calls(payload) == [("search_knowledge", answer.result, False)]
    assert payload["steps"][0]["calls"][0]["arguments"] == {"query": "parking"}


def test_a_call_is_in_one_turn_only(call: Voice) -> None:
    run(call, "search_knowledge", '{"query": "parking"}')
    call.exchange("Parking?", "I don't know.")
    later = call.exchange("Thanks.", "You're welcome.")
    assert (turn(call, later.pk)["steps"], later.tools_called) == ([], False)


def test_a_refused_call_is_in_the_turn_with_its_error(call: Voice) -> None:
    answer = run(call, "open_the_safe", '{"code": 1}')
    spoken = call.exchange("Open it!", "I can't do that.")
    payload = turn(call, spoken.pk)
    assert calls(payload) == [("open_the_safe", answer.result, True)]
    assert payload["steps"][0]["calls"][0]["arguments_text"] == '{"code": 1}'


def test_a_call_after_the_last_words_belongs_to_the_last_turn(call: Voice) -> None:
    """The goodbye comes before the hang-up."""
    spoken = call.exchange("Bye.", "Goodbye!")
    run(call, "end_call")
    call.report("ended")
    payload = turn(call, spoken.pk)
    assert (payload["tools_called"], calls(payload)) == (True, [("end_call", "The call has ended.", False)])


def test_the_effect_of_a_call_belongs_to_its_turn(call: Voice) -> None:
    spoken = call.exchange("The kitchen, please.", "I'll put you through.")
    run(call, "transfer_call", f'{{"phone_number": "{KITCHEN}"}}')
    call.report("ended")
    payload = turn(call, spoken.pk)
    assert [effect["kind"] for effect in payload["effects"]] == ["transfer"]
    assert payload["steps"][0]["calls"][0]["effect"] == payload["effects"][0]["id"]


def test_a_model_that_keeps_calling_tools_is_stopped_and_flagged(call: Voice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_calls, "MAX_CALLS", 2)
    answers = [run(call, "search_knowledge", '{"query": "x"}', call_id=str(number)) for number in range(3)]
    assert [answer.is_error for answer in answers] == [False, False, True]
    with call.tenant.tx():
        assert Conversation.objects.get(pk=call.conversation.pk).flag == tool_calls.STUCK


# The end of a stream of updates


async def _stop(voice: Voice) -> dict[str, Any]:
    cursor = UpdatesCursor(voice.tenant.organization.pk, voice.conversation.pk, None)
    async for frames in update_frames(cursor):
        for frame in frames:
            if frame.event == "stop":
                return dict(frame.data)
    raise AssertionError("The stream ended without a stop.")


@pytest.mark.requirement("F18", "T28")
def test_a_called_transfer_stops_the_voice_with_its_number(call: Voice) -> None:
    run(call, "transfer_call", f'{{"phone_number": "{KITCHEN}"}}')
    stop = asyncio.run(_stop(call))
    assert (stop["code"], stop["number"], "call is over" in stop["reason"]) == ("transferred", KITCHEN, True)


@pytest.mark.requirement("F18", "T28")
def test_a_promised_transfer_stops_the_voice_with_its_number(call: Voice, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bridge can tell it from a hang-up."""
    monkeypatch.setattr(effects, "OBSERVER_PATIENCE_SECONDS", 0.0)
    with call.tenant.tx():
        set_attribute(call.tenant.project, "project_attributes_setting_transfer_call_enabled", True)
    call.exchange("The kitchen, please.", "I'll transfer you to the kitchen now.")
    call.turns.run("tool_caller")
    call.turns.run("effect")
    stop = asyncio.run(_stop(call))
    assert (stop["code"], stop["number"]) == ("transferred", KITCHEN)


@pytest.mark.requirement("F18", "T28")
def test_the_end_stops_the_voice_without_a_number(call: Voice) -> None:
    run(call, "end_call")
    stop = asyncio.run(_stop(call))
    assert (stop["code"], "number" in stop) == ("ended", False)


@pytest.mark.requirement("T28")
def test_an_operator_stops_the_voice(call: Voice) -> None:
    with call.tenant.tx():
        Conversation.objects.filter(pk=call.conversation.pk).update(operator=call.tenant.owner)
    assert asyncio.run(_stop(call))["code"] == "operator"
