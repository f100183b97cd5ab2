"""Instructions for the agent never reach a customer, whatever the model does with them."""

from __future__ import annotations

import pytest

from conversations.claim_check.claim_lexicon import HONEST
from conversations.claim_check.instruction_filter import SENTENCES, InstructionFilter
from conversations.common.instructions import TAKES_LONGER
from conversations.followups.waits import end_overdue_waits
from conversations.models import Origin, Turn
from tests.conversations.conftest import Talk
from tests.conversations.pipeline.conftest import last_prompt
from tests.conversations.waiting.conftest import answered, awaited, expire_timer
from tests.processes import ScriptedModel

PENDING = HONEST["en"][0]


def filtered(*pieces: str, language: str = "en") -> list[str]:
    released: list[str] = []
    passing = InstructionFilter(released.append, language=language)
    for piece in pieces:
        passing.write(piece)
    passing.close()
    return released


@pytest.mark.parametrize("size", [1, 3, 7, 500])
@pytest.mark.parametrize("instruction", SENTENCES)
def test_a_repeated_instruction_becomes_an_honest_sentence(instruction: str, size: int) -> None:
    text = f"No result yet. {instruction} Anything else?"
    released = "".join(filtered(*(text[at : at + size] for at in range(0, len(text), size))))
    assert released == f"No result yet. {HONEST['en'][SENTENCES[instruction]]} Anything else?"


def test_capitals_hide_no_instruction() -> None:
    assert filtered(TAKES_LONGER.upper()) == [PENDING]


def test_the_honest_sentence_is_in_the_customers_language() -> None:
    assert filtered(TAKES_LONGER, language="it") == [HONEST["it"][0]]


@pytest.mark.parametrize("text", ["Say that again?", "Say so if you like", "I'd say", "Say that it takes longer, Say"])
def test_other_words_pass(text: str) -> None:
    assert "".join(filtered(*text)) == text


def test_only_what_may_become_an_instruction_is_held_back() -> None:
    assert filtered("The bell", " is", " at the bar", "; say", " hello") == [
        "The bell",
        " i",
        "s at the bar",
        "; ",
        "say hello",
    ]


@pytest.mark.standing_worker
def test_a_model_that_repeats_its_instruction_tells_no_customer(talk: Talk, worker, model: ScriptedModel) -> None:
    """It was told to 38 customers of 60 while workers were killed."""
    awaited(talk, answered(talk))
    expire_timer(talk)
    model.script("reply", times=1, text=f"No result has come in time. {TAKES_LONGER}")
    end_overdue_waits()
    with talk.tenant.tx():
        told = Turn.objects.get(conversation=talk.conversation, origin=Origin.URGENT)
    turn = talk.until_turn(told, lambda turn: turn["status"] == "done")
    assert TAKES_LONGER in last_prompt(model, "reply")
    assert turn["reply"]["content"] == f"No result has come in time. {PENDING}"
