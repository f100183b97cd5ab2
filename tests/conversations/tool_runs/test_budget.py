"""A turn's prompts stay within their budget, with the functions that go along and what the tools told."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.live.event_log import open_log
from conversations.models import MessageRole, Turn
from conversations.prompts.budget import LEAST_BYTES, PROMPT_BYTES, make_room, weight_of
from llm.types import ChatRequest, Endpoint, ModelSpec
from projects.agents.prompt_size import measure_prompt
from tests.conversations.tool_runs.probe import NAME, Probe
from tests.conversations.tool_runs.turns import Turns
from tools.engine.definition import Trigger
from tools.engine.execution.outcome import Outcome
from tools.engine.function_calling.messages import LEAST_RESULT, LONGEST_RESULT, MOST_RESULTS, room_for_each
from tools.engine.function_calling.offer import read_offer


class Told:
    """A call with a result."""

    def __init__(self, size: int) -> None:
        self.call_id, self.name, self.arguments, self.result = "c", NAME, {}, "é" * (size // 2)


def talk_much(turns: Turns) -> None:
    """Eleven kilobytes were said, and no summary covers them."""
    with turns.tenant.tx(), open_log(turns.conversation.pk) as log:
        for number in range(11):
            role = MessageRole.AGENT if number % 2 else MessageRole.USER
            log.add_message(role, f"{number}: " + "words " * 165, turn=None, idn="user_message")


def weights(turns: Turns, turn: Turn) -> list[int]:
    """What each call of the turn's reply weighed, functions and all."""
    with turns.tenant.tx():
        beside = read_offer(Trigger.TURN, turns.tenant.project, channel="chat").weight
    return [sum(map(weight_of, messages)) + beside for messages in turns.sent(turn)]


def test_every_hop_stays_within_the_budget(turns: Turns, bell: Probe) -> None:
    """The oldest words give way to what the tools told, and what they told is there."""
    turns.configure(enabled_tools=None)
    talk_much(turns)
    bell.outcome = Outcome.done("The bell says: " + "ding " * 780)
    for times in (1, 2, 3):
        turns.calls_tool(NAME, {"times": times})
    turns.says("It rang.")
    turn = turns.say("Ring it")
    first, *_, last = sent = turns.sent(turn)
    assert len(sent) == 4
    assert max(weights(turns, turn)) <= PROMPT_BYTES
    assert [one["content"][:14] for one in last if one["role"] == "tool"] == ["The bell says:"] * 3
    spoken = [
        len([one for one in messages if one["content"] and "words words" in one["content"]])
        for messages in (first, last)
    ]
    assert spoken[1] < spoken[0]
    assert last[0] == first[0]


def test_the_functions_count(turns: Turns) -> None:
    """An agent with many tools reads less of what was said long ago."""
    seen = []
    for enabled in ([], None):
        turns.configure(enabled_tools=enabled, business_context="We have much to say. " * 250)
        other = turns.on("chat")
        talk_much(other)
        other.says("Hello!")
        turn = other.say("Hi")
        assert max(weights(other, turn)) <= PROMPT_BYTES
        seen.append(len(other.sent(turn)[0]))
    assert seen[0] > seen[1]


def test_settings_weigh_what_the_first_request_holds(turns: Turns) -> None:
    """What the agent's page counts is what goes to the model."""
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
        ([100], LONGEST_RESULT),
        ([4_000, 2_000], LONGEST_RESULT),
        ([9_000, 9_000, 9_000], MOST_RESULTS // 3),
        ([900] * 30, LEAST_RESULT),
    ],
)
def test_results_share_their_room(sizes: list[int], room: int) -> None:
    """Thirty results of one turn fill no prompt."""
    assert room_for_each([Told(size) for size in sizes]) == room


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
def test_the_oldest_words_give_way(sizes: tuple[int, ...], transcript: int, beside: int, kept: str) -> None:
    """Never the system's prompt, the newest words or a result."""
    made = make_room(request(*sizes), transcript=transcript, beside=beside)
    assert "".join(one["content"][0] for one in made.messages) == kept
    assert LEAST_BYTES < 5_000
