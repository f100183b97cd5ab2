"""Quotes: one normalization, and what counts as evidence."""

from __future__ import annotations

import unicodedata

import pytest

from tools.engine.quotes import contains_words, is_quote_of, place_of, span_of

SAID = "Sure — I’ll text you **the details** right now… Bye!"


@pytest.mark.parametrize(
    "quote",
    [
        "I’ll text you the details",
        "i'll TEXT you\n the details.",
        "“I'll text you the details”",
        "sure - I'll text you",
        "right now...",
        unicodedata.normalize("NFKD", "Ｉ'll text you the ｄetails"),
    ],
    ids=["as it was said", "case and whitespace", "quotation marks", "dashes", "ellipsis", "width and form"],
)
def test_the_spelling_of_a_quote_does_not_matter(quote: str) -> None:
    assert is_quote_of(quote, SAID)


@pytest.mark.parametrize("quote", ["I'll call you", "I'll text you the detail", "text you details", "", " … ", "“”"])
def test_words_that_were_not_said_are_no_quote(quote: str) -> None:
    assert not is_quote_of(quote, SAID)


def test_a_quote_cuts_no_word() -> None:
    assert not is_quote_of("I book", "I booked your table.")


def test_a_quote_may_leave_words_out() -> None:
    assert is_quote_of("I'll text … right now", SAID)


@pytest.mark.parametrize("quote", ["right now … I'll text", "I'll text … tomorrow night", "I'll … text … right now"])
def test_the_parts_of_a_quote_are_all_evidence_and_in_order(quote: str) -> None:
    """Else a promise could be assembled from single words."""
    assert not is_quote_of(quote, SAID)


@pytest.mark.parametrize("quote", ["I", "the", "I'll", "text", "…the…"])
def test_one_short_word_is_no_evidence(quote: str) -> None:
    assert (contains_words(quote, SAID), is_quote_of(quote, SAID)) == (True, False)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("Bye", SAID),
        ("details", SAID),
        ("再见", "好的，我马上发给您。再见！"),
        ("予約します", "かしこまりました。明日19時に予約します。"),
        ("אשלח", "אשלח לך את הפרטים"),
        ("예약할게요", unicodedata.normalize("NFD", "지금 예약할게요.")),
    ],
    ids=["a clause", "a long word", "a clause in Chinese", "no spaces", "a word that is a sentence", "decomposed"],
)
def test_one_word_that_says_enough_is_evidence(quote: str, text: str) -> None:
    assert is_quote_of(quote, text)


def test_a_syllable_is_no_evidence_in_a_script_without_spaces() -> None:
    assert not is_quote_of("予約", "かしこまりました。明日19時に予約します。")


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("i'll text", SAID, "I’ll text"),
        ("I'll text … right now", SAID, "I’ll text you **the details** right now"),
        ("予約します", "明日19時に予約します。", "予約します"),
        ("cafe\u0301", "Le café est ouvert.", "café"),
        ("café", "Le cafe\u0301 est ouvert.", "cafe\u0301"),
    ],
)
def test_a_quote_is_located_in_the_text_as_it_was_written(quote: str, text: str, found: str) -> None:
    span = span_of(quote, text)
    assert span is not None
    assert text[span.start : span.end] == found


def test_words_that_were_not_said_have_no_place() -> None:
    assert (span_of("tomorrow", SAID), place_of("tomorrow", SAID)) == (None, None)
