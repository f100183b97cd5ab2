"""Evidence of facts in the customer's words, apart from the turn that reads it (tests/conversations/pipeline/test_facts.py)."""

from __future__ import annotations

import pytest

from conversations.turns.fact_evidence import is_value_in


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("4", "A table for four, please."),
        ("4", "Siamo in quattro."),
        ("5", "Wir sind zu fünft, also fünf."),
        ("12", "Somos doce personas"),
        ("4", "نحن أربعة"),
        ("3", "אנחנו שלושה"),
        ("four", "There are 4 of us."),
        ("4 guests", "four guests"),
    ],
)
def test_a_number_is_found_in_words(value: str, text: str) -> None:
    assert is_value_in("party_size", value, text)


@pytest.mark.parametrize(("value", "text"), [("5", "A table for four"), ("14", "four"), ("four", "There are 5 of us.")])
def test_another_number_is_not_found(value: str, text: str) -> None:
    assert not is_value_in("party_size", value, text)
