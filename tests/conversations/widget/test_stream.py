"""The live stream, filtered to what a customer may see."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import AsyncClient

from conversations.handover.operators import answer, take_over
from conversations.live.event_log import open_log
from conversations.live.stream import Frame, Frames
from conversations.models import MessageRole, Turn, TurnCall, TurnStatus, TurnStep
from conversations.models.event import EventType
from conversations.widget.event_filter import for_customer
from tests.conversations.tool_runs.conftest import turns
from tests.conversations.tool_runs.turns import Turns
from tests.conversations.widget.conftest import SHOP, Placed, Visitor, refusal
from tests.live_hub import close_hub

__all__ = ["turns"]

SECRET = "what-staff-knows"
SHOWN_KEYS = {
    "reset": {"messages", "last_seq", "waiting", "writing", "over", "rating"},
    "message": {"id", "seq", "role", "author", "content", "blocks", "attachments", "turn", "created_at"},
    "tool_call": {"turn", "tool"},
    "block": {"turn", "block"},
    "turn": {"turn", "status", "superseded_by"},
    "waiting": {"waiting"},
    "done": {"turn", "status"},
    "over": {"over"},
}


async def frames(visitor: Visitor, *, until: str, **headers: str) -> list[dict[str, Any]]:
    """The stream's frames up to and including the first with this name."""
    known = {"Origin": SHOP, "Authorization": f"Bearer {visitor.token}", **headers}
    response = await AsyncClient().get(f"/widget/{visitor.placed.key}/events", headers=known)
    assert response.status_code == 200, response.content
    seen: list[dict[str, Any]] = []
    async for piece in response.streaming_content:
        fields = dict(line.split(": ", 1) for line in piece.decode().rstrip("\n").split("\n"))
        if "event" not in fields:
            continue
        seen.append({"event": fields["event"], "id": fields.get("id"), "data": json.loads(fields["data"])})
        if fields["event"] == until:
            break
    await response._iterator.aclose()
    await close_hub()
    return seen


def read(visitor: Visitor, *, until: str, **headers: str) -> list[dict[str, Any]]:
    return asyncio.run(frames(visitor, until=until, **headers))


@pytest.fixture
def told(turns: Turns, visitor: Visitor, placed: Placed) -> Visitor:
    """A visitor whose question was answered with a tool call, and everything staff sees of it."""
    turns.calls_tool("escalate_to_human", {"reason": SECRET}, text="A moment.")
    turns.says("Somebody will come.")
    turn_id = visitor.say("I want a person.").json()["turn"]["turn"]
    turns.run()
    with placed.tenant.tx():
        turn = Turn.objects.get(pk=turn_id)
        with open_log(turn.conversation_id) as log:
            for kind in (EventType.DIRECTIVES, EventType.EFFECT, EventType.ERROR, EventType.SYSTEM):
                log.add_event("x", payload={"message": SECRET, "turn": str(turn.pk)}, type=kind)
            log.add_event("x", payload={"waiting": True, "reason": SECRET}, type=EventType.WAITING)
            log.add_turn_event(turn, note=SECRET)
            log.add_event("turn_done", payload={"turn": str(turn.pk), "status": SECRET[:0]}, type=EventType.DONE)
    return visitor


@pytest.mark.requirement("W11")
def test_a_customer_sees_messages_and_blocks_but_no_internals(told: Visitor) -> None:
    """The tool's name only; no directives, effects, jobs, or error details."""
    seen = read(told, until="waiting", **{"Last-Event-ID": "0"})
    assert {frame["event"] for frame in seen} == {"message", "tool_call", "block", "turn", "waiting", "done"}
    for frame in seen:
        assert set(frame["data"]) <= SHOWN_KEYS[frame["event"]], frame
    calls = [frame["data"]["tool"] for frame in seen if frame["event"] == "tool_call"]
    assert calls == ["escalate_to_human"]
    blocks = [frame["data"]["block"]["type"] for frame in seen if frame["event"] == "block"]
    assert blocks == ["escalation_button"]
    assert SECRET not in json.dumps(seen)


@pytest.mark.requirement("W11")
async def test_frames_published_together_are_filtered_one_by_one() -> None:
    """A frame after a token is filtered too."""

    async def together() -> Frames:
        hidden = Frame("directives", {"goal": SECRET}, 1)
        yield [Frame("token", {"text": "Hi"}), hidden, Frame("waiting", {"waiting": True}, 2)]

    shown = b"".join([piece async for piece in for_customer(together())])
    assert [line for line in shown.split(b"\n") if line.startswith(b"event")] == [b"event: token", b"event: waiting"]
    assert SECRET.encode() not in shown


def test_a_reload_gets_the_transcript_with_its_blocks(told: Visitor) -> None:
    """Without Last-Event-ID the stream begins with a snapshot of the messages only."""
    [snapshot] = read(told, until="reset")
    assert set(snapshot["data"]) == SHOWN_KEYS["reset"]
    said = snapshot["data"]["messages"]
    assert [message["role"] for message in said] == ["user", "agent"]
    assert said[1]["blocks"][0]["type"] == "escalation_button"
    assert all(set(message) <= SHOWN_KEYS["message"] for message in said)
    assert int(snapshot["id"]) == snapshot["data"]["last_seq"]


@pytest.mark.requirement("W11")
def test_a_page_loaded_during_a_turn_is_told_of_the_coming_reply(
    turns: Turns, visitor: Visitor, placed: Placed
) -> None:
    """The turn, its running tool, and the blocks so far; nothing once the reply is there."""
    turn_id = visitor.say("I want a person.").json()["turn"]["turn"]
    [before] = read(visitor, until="reset")
    assert before["data"]["writing"] == {"turn": turn_id, "tool": "", "blocks": []}
    with placed.tenant.tx():
        turn = Turn.objects.get(pk=turn_id)
        step = TurnStep.objects.create(turn=turn, number=1)
        block = {"type": "escalation_button", "label": "Come", "reason": SECRET}
        TurnCall.objects.create(step=step, index=0, call_id="1", name="over", block=block, finished_at=Now())
        TurnCall.objects.create(step=step, index=1, call_id="2", name="lookup_order")
        with open_log(turn.conversation_id) as log:
            log.add_event("x", payload={"turn": turn_id, "block": block}, type=EventType.BLOCK)
    [amid] = read(visitor, until="reset")
    shown = {"type": "escalation_button", "label": "Come"}
    assert amid["data"]["writing"] == {"turn": turn_id, "tool": "lookup_order", "blocks": [shown]}
    with placed.tenant.tx():
        Turn.objects.update(status=TurnStatus.DONE)
    [after] = read(visitor, until="reset")
    assert after["data"]["writing"] is None


def test_a_stream_resumes_after_the_last_event_received(told: Visitor) -> None:
    """Each later event once, in order."""
    seen = read(told, until="waiting", **{"Last-Event-ID": "0"})
    numbers = [int(frame["id"]) for frame in seen]
    assert numbers == sorted(set(numbers))
    middle = numbers[len(numbers) // 2]
    again = read(told, until="waiting", **{"Last-Event-ID": str(middle)})
    assert [int(frame["id"]) for frame in again] == [number for number in numbers if number > middle]


def test_an_unknown_position_starts_from_the_beginning(told: Visitor) -> None:
    assert read(told, until="reset", **{"Last-Event-ID": "99999"})[0]["event"] == "reset"


@pytest.mark.requirement("W03")
def test_an_operator_is_shown_by_the_first_name_and_the_agent_is_silent(told: Visitor, placed: Placed) -> None:
    """The notice, then the answer; the customer's next message starts no turn."""
    owner = placed.tenant.owner
    owner.first_name = "Lucia"
    owner.save()
    conversation_id = told.open().json()["conversation"]
    with placed.tenant.tx():
        take_over(conversation_id, by=owner)
        answer(conversation_id, "Here I am.", by=owner)
    assert told.say("At last").json()["turn"] is None
    [snapshot] = read(told, until="reset")
    tail = [
        (message["role"], message.get("author"), message["content"]) for message in snapshot["data"]["messages"][2:]
    ]
    assert tail == [
        (MessageRole.SYSTEM, None, "Lucia joined the conversation."),
        (MessageRole.OPERATOR, "Lucia", "Here I am."),
        (MessageRole.USER, None, "At last"),
    ]
    assert owner.email not in json.dumps(snapshot)


@pytest.mark.requirement("W03")
def test_a_request_for_a_person_stores_the_lead(told: Visitor, placed: Placed) -> None:
    """The button's escalation, with contact details; each refusal names the field."""
    [snapshot] = read(told, until="reset")
    offered = snapshot["data"]["messages"][1]["blocks"][0]["escalation"]

    def ask(escalation: str, **lead: Any) -> Any:
        return told.ask("POST", "person", {"escalation": escalation, "lead": lead})

    refused = ask(offered, name="Clara", email="clara@")
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "lead.email")
    assert ask(offered, name="Clara").json()["error"]["field"] == "lead"
    assert refusal(ask(str(placed.widget.pk), name="C", email="c@example.com"), 404) == "no_conversation"
    assert ask(offered, name="Clara", email="clara@example.com").json() == {"state": "waiting"}


def test_another_visitors_conversation_is_not_found(told: Visitor, placed: Placed) -> None:
    """Neither the stream nor the request for a person reveals that it exists."""
    conversation = told.open().json()["conversation"]
    other = Visitor(placed)
    other.open()
    assert refusal(other.ask("GET", f"events?conversation={conversation}"), 404) == "no_conversation"
    other.say("Hello")
    assert refusal(other.ask("GET", f"events?conversation={conversation}"), 404) == "no_conversation"


def test_a_visitors_stream_ends_after_a_while(told: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conversations.widget.event_filter.LONGEST_SECONDS", -1)
    assert [frame["event"] for frame in read(told, until="never")] == []


def test_a_members_stream_ends_after_a_while(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser that was signed out reads on for as long."""
    monkeypatch.setattr("conversations.api.live.LONGEST_SECONDS", -1)
    path = f"/api/v1/conversations/{turns.conversation.pk}/events?project={turns.tenant.project.slug}"

    async def read_all() -> int:
        client = AsyncClient()
        await client.aforce_login(turns.tenant.owner)
        response = await client.get(path)
        pieces = [piece async for piece in response.streaming_content]
        await close_hub()
        return len(pieces)

    assert asyncio.run(read_all()) == 1
