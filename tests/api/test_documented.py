"""The OpenAPI document against real responses. The `api` fixture checks every response in all tests."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest
from django.test import Client

from conversations.common.payloads import WrittenPayload
from conversations.prompts.thoughts import KeyDirectives
from tests.api.documented import deviations
from tests.conversations.tool_runs.conftest import bell, turns
from tests.conversations.tool_runs.probe import NAME, Probe
from tests.conversations.tool_runs.turns import Turns

__all__ = ["bell", "turns"]

MESSAGE = {
    "id": "01a20672-d976-7c88-8c7c-9cda136e1a5a",
    "seq": 1,
    "role": "user",
    "content": "Hello",
    "blocks": [],
    "attachments": [],
    "turn": None,
    "created_at": "2026-11-23T03:00:00.123456Z",
}


def test_message_responses_match_the_document() -> None:
    assert deviations("Message", MESSAGE) == []
    assert deviations("Message", {**MESSAGE, "author": "Ada"}) == []


@pytest.mark.parametrize(
    "change",
    [
        {"mood": "sunny"},
        {"role": "robot"},
        {"seq": "1"},
        {"content": None},
        {"turn": "the first"},
        {"created_at": "2026-11-23 03:00"},
        {"created_at": "2026-11-23T03:00:00"},
        {"blocks": [1]},
    ],
    ids=str,
)
def test_deviations_from_the_document_are_found(change: dict[str, Any]) -> None:
    """An undeclared field, and a value of another type."""
    assert deviations("Message", {**MESSAGE, **change})


@pytest.mark.parametrize("name", MESSAGE)
def test_missing_fields_are_found(name: str) -> None:
    assert deviations("Message", {key: value for key, value in MESSAGE.items() if key != name})


def test_directives_have_the_fields_that_thoughts_write() -> None:
    """They are stored as the model wrote them, and shown as stored."""
    assert {*get_type_hints(WrittenPayload)} == {*KeyDirectives.model_fields}


@pytest.mark.requirement("W08", "W17")
def test_a_turn_with_tool_calls_matches_the_document(turns: Turns, bell: Probe, api: Client) -> None:
    """Each step with its calls."""
    turns.calls_tool(NAME, {"times": 2}, text="One moment.")
    turns.calls_tool(NAME, "no JSON object")
    turns.says("It rang twice.")
    turn = turns.say()
    address = f"/api/v1/conversations/{turns.conversation.pk}"
    steps = api.get(f"{address}/turns/{turn.pk}").json()["steps"]
    assert [call["is_error"] for step in steps for call in step["calls"]] == [False, True]
    for part in ("", "/turns", "/messages", "/log"):
        assert api.get(f"{address}{part}").status_code == 200
