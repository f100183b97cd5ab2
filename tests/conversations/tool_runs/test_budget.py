"""A turn's prompts stay within their budget, including functions and tool results."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.live.event_log import open_log
from conversations.models import MessageRole, Turn
from conversations.prompts.budget import MAX_PROMPT_BYTES, MIN_TRANSCRIPT_BYTES, make_room, weight_of
from llm.types import ChatRequest, Endpoint, ModelSpec
from projects.agents.prompt_size import measure_prompt
from tests.conversations.tool_runs.probe import NAME, Probe
from tests.conversations.tool_runs.turns import Turns
from tools.engine.definition import Trigger
from tools.engine.execution.outcome import Outcome
from tools.engine.function_calling.messages import (
    MAX_RESULT_BYTES,
    MAX_TURN_RESULT_BYTES,
    MIN_RESULT_BYTES,
    result_limit,
)
from tools.engine.function_calling.offer import read_offer


class Told:
    """A call with a result."""

    def __init__(self, size: int) -> None:
        self.call_id, self.name, self.arguments, self.result = "c", NAME, {}, "é" * (size // 2)


def talk_much(turns: Turns) -> None:
    """Add eleven kilobytes of messages that no summary covers."""
    with turns.tenant.tx(), open_log(turns.conversation.pk) as log:
        for number in range(11):
            role = MessageRole.AGENT if number % 2 else MessageRole.USER
            log.add_message(role, f"{number}: " + "words " * 165, turn=None, idn="user_message")


def weights(turns: Turns, turn: Turn) -> list[int]:
    """The size of each model call of the turn's reply, including functions."""
    with turns.tenant.tx():
        beside = read_offer(Trigger.TURN, turns.tenant.project, channel="chat").weight
    return [sum(map(weight_of, messages)) + beside for messages in turns.sent(turn)]


def test_every_step_stays_within_the_budget(turns: Turns, bell: Probe) -> None:
    """The oldest messages make room for the results, and the results are included."""
    turns.configure(enabled_tools=None)
    talk_much(turns)
    bell.outcome = Outcome.done("The bell says: " + "ding " * 780)
    for times in (1, 2, 3):
        turns.calls_tool(NAME, {"times": times})
    turns.says("It rang.")
    turn = turns.say("Ring it")
    first, *_, last = sent = turns.sent(turn)
    assert len(sent) == 4
    assert max(weights(turns, turn)) <= MAX_PROMPT_BYTES
    assert [one["content"][:14] for one in last if one["role"] == "tool"] == ["The bell says:"] * 3
    spoken = [
        len([one for one in messages if one["content"] and "words words" in one["content"]])
        for messages in (first, last)
    ]
    assert spoken[1] < spoken[0]
    assert last[0] == first[0]


def test_functions_count_toward_the_budget(turns: Turns) -> None:
    """An agent with many tools reads fewer of the old messages."""
    seen = []
    for enabled in ([], None):
        turns.configure(enabled_tools=enabled, business_context="We have much to say. " * 250)
        other = turns.on("chat")
        talk_much(other)
        other.says("Hello!")
        turn = other.say("Hi")
        assert max(weights(other, turn)) <= MAX_PROMPT_BYTES
        seen.append(len(other.sent(turn)[0]))
    assert seen[0] > seen[1]


def test_the_settings_page_measures_the_first_request(turns: Turns) -> None:
    """The size shown on the agent's page is the size sent to the model."""
    turns.configure(enabled_tools=None, intents=[], procedures=[{"title": "Fees", "text": "Ask for <b>5 €</b>."}])
    project = turns.tenant.project
    with turns.tenant.tx():
        weight = measure_prompt(project, project.agent_version.config)
        functions = read_offer(Trigger.TURN, project, channel=weight.channel).weight
    other = turns.on(weight.channel)
    other.says("Hello!")
    sent = other.sent(other.say("Hi"))[0]
    assert sum(map(weight_of, sent)) + functions - weight.total == len("customer: Hi\n")


@pytest.mark.parametrize(
    ("sizes", "room"),
    [
        ([100], MAX_RESULT_BYTES),
        ([4_000, 2_000], MAX_RESULT_BYTES),
        ([9_000, 9_000, 9_000], MAX_TURN_RESULT_BYTES // 3),
        ([900] * 30, MIN_RESULT_BYTES),
    ],
)
def test_results_share_the_available_room(sizes: list[int], room: int) -> None:
    """Thirty results of one turn do not fill the prompt."""
    assert result_limit([Told(size) for size in sizes]) == room


def request(*sizes: int) -> ChatRequest:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": f"{at}".ljust(size, "x")} for at, size in enumerate(sizes)
    ]
    model = ModelSpec(endpoint=Endpoint(base_url="http://127.0.0.1", api_key=""), model="m")
    return ChatRequest(skill="reply", template_hash="", model=model, messages=messages)


@pytest.mark.parametrize(
    ("sizes", "transcript", "beside", "kept"),
    [
        ((9_000, 5_000, 5_000, 5_000), 2, 0, "0123"),
        ((9_000, 5_000, 5_000, 5_000), 2, 2_000, "023"),
        ((20_000, 3_000, 3_000, 9_000), 2, 0, "0123"),
        ((20_000, 3_000, 3_000, 3_000, 9_000), 3, 0, "0234"),
        ((30_000, 900, 9_000), 1, 0, "012"),
        ((30_000, 9_000), 0, 0, "01"),
    ],
    ids=["fits", "too much", "the least stays", "down to the least", "little", "nothing"],
)
def test_the_oldest_messages_are_dropped_first(sizes: tuple[int, ...], transcript: int, beside: int, kept: str) -> None:
    """Never the system prompt, the newest messages or a result."""
    made = make_room(request(*sizes), transcript=transcript, extra_bytes=beside)
    assert "".join(one["content"][0] for one in made.messages) == kept
    assert MIN_TRANSCRIPT_BYTES < 5_000
