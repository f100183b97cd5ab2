"""Quotes: a model's evidence, found in the text it claims to quote."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher

from tools.engine.words import normalize_words

# A model leaves words out of a quote with an ellipsis.
OMISSION = re.compile(r"…|\.{3,}")
CLAUSE_END = re.compile(r"[.!?…,;:–—。！？、，\n]+")
# A single word is evidence from this length on. Letters of scripts without case count double: those scripts say more
# with each letter, and some write no spaces.
LONG_WORD = 6
# Words in a row that are no coincidence.
MIN_REPEATED = 3
# Words of a quote that are compared with what it repeats. Equal words cost quadratic time.
MAX_COMPARED = 100


@dataclass(frozen=True)
class Span:
    """Position of a quote in a text, in characters; `end` is exclusive."""

    start: int
    end: int


def is_quote_of(quote: str, text: str) -> bool:
    """True if the quote is in the text and long enough to be evidence.

    Case, whitespace, punctuation and Unicode form are ignored. A quote with omissions needs each of its parts, in
    order. Each part must be two words, one long word, or a whole clause (“Bye!”).
    """
    words = normalize_words(text)
    parts = _parts(quote, words)
    return bool(parts) and _find_all(parts, words) is not None and all(_is_evidence(part, text) for part in parts)


def repeats(quote: str, text: str) -> bool:
    """True if the quote mostly stands in the text: whole, or with at most a third of its words added around.

    Shorter than three words, a quote repeats nothing. Of a long one, the first hundred words count.
    """
    said, words = normalize_words(quote).split()[:MAX_COMPARED], normalize_words(text).split()
    run = SequenceMatcher(None, said, words, autojunk=False).find_longest_match().size
    return run >= MIN_REPEATED and run * 3 >= len(said) * 2


def contains_words(quote: str, text: str) -> bool:
    """True if the text contains the quote's words, however few."""
    return place_of(quote, text) is not None


def place_of(quote: str, text: str) -> int | None:
    """Place of the quote among the text's words, to sort by; None if the text doesn't contain it."""
    words = normalize_words(text)
    found = _find_all(_parts(quote, words), words)
    return found.start if found else None


def span_of(quote: str, text: str) -> Span | None:
    """Position of the quote's words in the text; None if the text doesn't contain them."""
    words, places = _placed_words(text)
    found = _find_all(_parts(quote, words), words)
    return Span(places[found.start].start, places[found.end - 1].end) if found else None


def are_apart(quote: str, other: str, text: str) -> bool:
    """True if the text contains both quotes, and they share no word of it."""
    words = normalize_words(text)
    one, another = (_find_all(_parts(part, words), words) for part in (quote, other))
    return one is not None and another is not None and (one.end <= another.start or another.end <= one.start)


def _parts(quote: str, words: str) -> list[str]:
    """The quote in one part if the text has it so, else what is left between its omissions."""
    if _find(normalize_words(quote), words) is not None:
        return [quote]
    return [part for part in OMISSION.split(quote) if normalize_words(part)]


def _find_all(parts: list[str], words: str) -> Span | None:
    """The span of all parts in the normalized words, if they occur in order."""
    first = last = None
    for part in parts:
        last = _find(normalize_words(part), words, start=last.end if last else 0)
        if last is None:
            return None
        first = first or last
    return Span(first.start, last.end) if first and last else None


def _find(wanted: str, words: str, *, start: int = 0) -> Span | None:
    """The first occurrence that cuts no word, so that "I book" is not found in "I booked"."""
    at = words.find(wanted, start) if wanted else -1
    while at >= 0 and (_cuts_word(words, at) or _cuts_word(words, at + len(wanted))):
        at = words.find(wanted, at + 1)
    return Span(at, at + len(wanted)) if at >= 0 else None


def _cuts_word(words: str, at: int) -> bool:
    """True between two letters of a script with case, or digits; other scripts may write no spaces."""
    return 0 < at < len(words) and all(one.isdigit() or _has_case(one) for one in words[at - 1 : at + 1])


def _has_case(letter: str) -> bool:
    return letter.lower() != letter.upper()


def _is_evidence(part: str, text: str) -> bool:
    words = [word for word in part.split() if normalize_words(word)]
    letters = [one for one in part if one.isalpha()]
    if len(words) > 1 or sum(1 if _has_case(one) else 2 for one in letters) >= LONG_WORD:
        return True
    return normalize_words(part) in map(normalize_words, CLAUSE_END.split(text))


def _placed_words(text: str) -> tuple[str, list[Span]]:
    """The normalized words of a text, and for each of their characters its position in the text."""
    characters = [(one, span) for span in _clusters(text) for one in _plain(text[span.start : span.end])]
    words = "".join(one for one, _ in characters)
    spelling: list[str] = []
    places: list[Span] = []
    for word in re.finditer(r"\w+", words):
        if spelling:
            spelling.append(" ")
            places.append(characters[word.start()][1])
        spelling.append(word[0])
        places += [span for _, span in characters[word.start() : word.end()]]
    return "".join(spelling), places


def _plain(cluster: str) -> str:
    return unicodedata.normalize("NFKC", cluster).casefold()


def _clusters(text: str) -> list[Span]:
    """Characters with the marks and Hangul letters that compose with them."""
    starts = [at for at, one in enumerate(text) if not at or not _composes(one)]
    return [Span(start, end) for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _composes(one: str) -> bool:
    return unicodedata.combining(one) != 0 or "\u1160" <= one <= "\u11ff"
