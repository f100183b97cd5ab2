"""The offline model searches articles only for what the business context doesn't answer."""

from __future__ import annotations

import pytest

from tests.conversations.tool_runs.conftest import turns  # noqa: F401 - a fixture
from tests.conversations.tool_runs.turns import Turns

pytestmark = pytest.mark.usefixtures("written")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("Do you give cooking classes?", "€ 65 a person"),
        ("Can we bring our own birthday cake?", "You can bring your own birthday cake."),
        ("How much is corkage if I bring a bottle?", "€ 12"),
    ],
)
def test_it_answers_from_an_article(turns: Turns, words: str, told: str) -> None:  # noqa: F811 - the fixture
    turn = turns.say(words)
    assert [call.name for call in turns.calls(turn)] == ["search_knowledge"]
    assert turn.reply is not None
    assert told in turn.reply.content


def test_it_says_that_it_does_not_know(turns: Turns) -> None:  # noqa: F811 - the fixture
    turn = turns.say("Do you have helicopter rides?")
    assert turn.reply is not None
    assert "I don't know that" in turn.reply.content


@pytest.mark.parametrize(
    "words",
    [
        "Are dogs allowed?",
        "What are your opening hours?",
        "Is there anything vegan on the menu?",
        "Hi, do you have a table for four this Friday?",
        "Could you text me the details?",
        "Thank you, that’s all. See you on Friday",
    ],
)
def test_it_does_not_search_for_what_it_knows(turns: Turns, words: str) -> None:  # noqa: F811 - the fixture
    assert not {call.name for call in turns.calls(turns.say(words))} & {"search_knowledge", "send_kb_article"}


def test_a_help_center_shows_a_card_as_well(turns: Turns) -> None:  # noqa: F811 - the fixture
    turns.configure(vertical="help_center")
    turn = turns.say("Do you give cooking classes?")
    assert turns.block(turn)["slug"] == "cooking-classes"
    assert turn.reply is not None
    assert "€ 65 a person" in turn.reply.content


def test_on_the_phone_it_says_what_the_card_would_show(turns: Turns) -> None:  # noqa: F811 - the fixture
    """It doesn't repeat the instructions about cards."""
    turns.configure(vertical="help_center")
    turn = turns.on("phone", phone="+393471234567").say("Do you give cooking classes?")
    assert turn.reply is not None
    assert "€ 65 a person" in turn.reply.content
    assert "card" not in turn.reply.content
