"""The offline model uses the support tools when appropriate, and reports their result."""

from __future__ import annotations

import pytest

from tests.conversations.tool_runs.turns import Turns


@pytest.mark.requirement("W03", "W06", "F19")
@pytest.mark.parametrize(
    ("channel", "words", "tool", "told"),
    [
        ("chat", "I want to talk to a person", "escalate_to_human", "button below"),
        ("chat", "Can I speak with a real human, please?", "escalate_to_human", "button below"),
        ("chat", "You charged me twice for Friday", "open_ticket", "#1"),
        ("chat", "Please open a ticket about my account", "open_ticket", "#1"),
        ("phone", "I will kill you", "flag_caller", ""),
    ],
)
def test_the_offline_model_calls_the_requested_tool(
    help_center: Turns, channel: str, words: str, tool: str, told: str
) -> None:
    talk = help_center.on(channel, external_id=f"offline-{channel}", phone="+393471234567")
    turn = talk.say(words)
    assert [call.name for call in talk.calls(turn)] == [tool]
    assert told in (turn.reply.content if turn.reply else "")


@pytest.mark.parametrize("words", ["A table for two persons on Friday", "Is there someone at the bar?", "Thank you!"])
def test_the_offline_model_calls_no_tool_otherwise(help_center: Turns, words: str) -> None:
    called = {call.name for call in help_center.calls(help_center.say(words))}
    assert not called & {"escalate_to_human", "open_ticket"}
