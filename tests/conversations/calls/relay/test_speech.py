"""Tests of the words that a caller heard."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from conversations.calls.relay.speech import Speech, heard_of

TURN = UUID(int=1)
TEXT = "We have a table at seven, and one at nine."


@pytest.mark.parametrize(
    ("utterance", "heard"),
    [
        ("We have a table", "We have a table"),
        ("We have a  table at", "We have a table at"),
        ("table at seven,", "We have a table at seven,"),
        (TEXT, TEXT),
        ("", ""),
        # Words that were never sent: only their number counts.
        ("Words of others", "We have a table a"),
        (f"{TEXT} And more that nobody sent.", TEXT),
    ],
)
def test_only_words_that_were_sent_were_heard(utterance: str, heard: str) -> None:
    assert heard_of(TEXT, utterance) == heard


def token(text: str, *, offset: int = 0, attempt: int = 1) -> dict:
    return {"turn": str(TURN), "attempt": attempt, "offset": offset, "text": text}


def message(content: str, *, turn: UUID | None = TURN, role: str = "agent") -> dict:
    return {"id": str(uuid4()), "role": role, "content": content, "turn": str(turn) if turn else None}


def texts(sent: list[dict]) -> list[tuple[str, bool]]:
    return [(one["token"], one["last"]) for one in sent]


def test_a_message_adds_what_was_not_streamed() -> None:
    speech = Speech()
    assert texts(speech.on_token(token("We have"))) == [("We have", False)]
    assert texts(speech.on_message(message("We have a table."))) == [(" a table.", True)]


def test_a_repeated_token_is_said_once() -> None:
    speech = Speech()
    speech.on_token(token("We have"))
    assert texts(speech.on_token(token("We have a table"))) == [(" a table", False)]
    assert speech.on_token(token("We have")) == []


def test_a_message_is_said_once() -> None:
    speech, said = Speech(), message("Hello.", turn=None)
    assert texts(speech.on_message(said)) == [("Hello.", True)]
    assert speech.on_message(said) == []


def test_what_the_caller_said_is_not_said_back() -> None:
    assert Speech().on_message(message("Hello.", role="user")) == []


def test_what_staff_writes_is_said() -> None:
    assert texts(Speech().on_message(message("Anna here.", turn=None, role="operator"))) == [("Anna here.", True)]


def test_an_interrupted_turn_says_nothing_more() -> None:
    speech = Speech()
    speech.on_token(token("We have a table"))
    [cut] = speech.interrupt("We have")
    assert (cut.turn, cut.message, cut.heard) == (TURN, None, "We have")
    assert speech.on_token(token(" at seven", offset=15)) == []
    assert speech.on_message(message("We have —")) == []


def test_a_passage_that_was_heard_to_its_end_is_not_cut() -> None:
    """Only the one after it is."""
    speech = Speech()
    speech.on_message(message("Hello.", turn=None))
    speech.on_message(message("We have a table."))
    [cut] = speech.interrupt("Hello.We have")
    assert (cut.turn, cut.heard) == (TURN, "We have")
