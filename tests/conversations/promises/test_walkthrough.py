"""The reference example from end to end, step by step, with real workers and the offline model."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conversations.promises.conftest import PROMISE, SMS, Desk, fired


@pytest.mark.requirement("N39", "N44", "N52")
def test_the_seven_steps_of_the_reference_example(desk: Desk, worker, capsys) -> None:
    """ "I'll send you an SMS with the reservation details", from the reply to the delivery."""
    desk.model.script("reply", text=PROMISE)
    turn = desk.talk.exchange("My number is +39 347 555 0142. Please text me the details.")
    steps, events = desk.steps(turn), events_of(desk)
    printed = [
        f"1. Event fires: {named(events, 'broadcast_analyze_conversation')['idn']} starts {lane_of(turn)}",
        f"2. Tool compilation: compile_tools_object holds {SMS}: {steps[1]['tools'][SMS]['why_not'] == ''}",
        f"3. Tools grouped: {SMS} is evaluated without history: {SMS in steps[2]['without_history']}",
        f"4. Condition detection: {reading(turn)}",
        f"5. Conflict check: {steps[5]['tags']}, contested {steps[5]['contested']}",
        f"6. Execution: {sent(events)}",
        f"7. SMS delivery: {delivery(turn)}",
    ]
    with capsys.disabled():
        print("", *printed, sep="\n")
    assert printed == [
        "1. Event fires: broadcast_analyze_conversation starts CANewoToolCaller",
        "2. Tool compilation: compile_tools_object holds send_sms_tool: True",
        "3. Tools grouped: send_sms_tool is evaluated without history: True",
        "4. Condition detection: agentPromised met, notRelatedToExistingBooking met, selected send_sms_tool",
        "5. Conflict check: {'sms': ['send_sms_tool']}, contested {}",
        "6. Execution: eventIdn=send_sms_tool connectorIdn=system",
        "7. SMS delivery: done to +393475550142",
    ]


def events_of(desk: Desk) -> list[dict[str, Any]]:
    with desk.tenant.tx():
        return list(desk.talk.conversation.events.order_by("seq").values("idn", "connector", "payload"))


def named(events: list[dict[str, Any]], idn: str) -> dict[str, Any]:
    return next(event for event in events if event["idn"] == idn)


def lane_of(turn: dict[str, Any]) -> str:
    ran = {job["lane"] for job in turn["jobs"] if job["state"] == "done"}
    return "CANewoToolCaller" if "tool_caller" in ran else f"nothing of {ran}"


def reading(turn: dict[str, Any]) -> str:
    [verdict] = [one for one in turn["verdicts"] if one["tool"] == SMS]
    conditions = [f"{name} {'met' if met else 'not met'}" for name, met in verdict["conditions"].items()]
    return ", ".join([*conditions, f"selected {' '.join(fired(turn))}"])


def sent(events: list[dict[str, Any]]) -> str:
    event = named(events, SMS)
    return f"eventIdn={event['idn']} connectorIdn={event['connector']}"


def delivery(turn: dict[str, Any]) -> str:
    [effect] = turn["effects"]
    return f"{effect['state']} to {effect['result']['message']['to']}"
