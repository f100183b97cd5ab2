"""Text of customers, models and webhooks costs little CPU time, however it is written."""

from __future__ import annotations

import time

import pytest

from conversations.turns.fact_evidence import is_value_in
from tools.engine.quotes import repeats

# Far above what each takes, and far below what it took.
SECONDS = 1.0


def test_a_long_run_of_spaces_holds_no_address() -> None:
    """It took five seconds."""
    began = time.thread_time()
    assert not is_value_in("email", "giulia@example.com", " " * 16_000)
    assert time.thread_time() - began < SECONDS


@pytest.mark.parametrize("spaces", [" ", "  ", "\n\t "])
def test_an_address_is_found_across_spaces(spaces: str) -> None:
    assert is_value_in("email", "giulia@example.com", spaces.join(["giulia", "at", "example", "dot", "com"]))


def test_a_quote_of_equal_words_is_compared_quickly() -> None:
    """It took three seconds."""
    began = time.thread_time()
    assert repeats("a " * 4_000, "a " * 8_000 + "b")
    assert time.thread_time() - began < SECONDS
