"""The relevant part of an article: an excerpt for people, and a passage for a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from projects.knowledge.markup import plain_text
from projects.knowledge.search import Found

WORD = re.compile(r"\w+")
PARAGRAPHS = re.compile(r"\n\s*\n")
BEFORE, LENGTH = 60, 220
# Suffixes removed by stemming (up to this length), or replaced (allergy, allergi).
LONGEST_ENDING = 6
SHORTEST_STEM = 3


@dataclass(frozen=True)
class Piece:
    """A part of an excerpt, marked if it matches a word of the query."""

    text: str
    is_marked: bool = False


def excerpt_of(found: Found) -> list[Piece]:
    """A short excerpt around the first match, with matches marked; the beginning of the article if there is none."""
    text = " ".join(plain_text(found.body).split())
    spots = [match.span() for match in WORD.finditer(text) if _matches(match[0], found.words)]
    start = _word_start(text, max(0, spots[0][0] - BEFORE)) if spots else 0
    end = min(len(text), start + LENGTH)
    pieces = [Piece("…")] if start else []
    index = start
    for begins, ends in spots:
        if begins < start or ends > end:
            continue
        pieces += [Piece(text[index:begins]), Piece(text[begins:ends], is_marked=True)]
        index = ends
    pieces += [Piece(text[index:end]), Piece("…" if end < len(text) else "")]
    return [piece for piece in pieces if piece.text]


def passage_of(found: Found, *, longest: int) -> str:
    """The whole article if it has at most `longest` characters, otherwise its best matching paragraphs in their order."""
    text = plain_text(found.body).strip()
    if len(text) <= longest:
        return text
    paragraphs = [part.strip() for part in PARAGRAPHS.split(text) if part.strip()]
    ranked = sorted(range(len(paragraphs)), key=lambda index: (-_count_matches(paragraphs[index], found.words), index))
    chosen: list[int] = []
    room = longest
    for index in ranked:
        if len(paragraphs[index]) <= room:
            chosen.append(index)
            room -= len(paragraphs[index]) + 1
    if not chosen:
        return f"{paragraphs[ranked[0]][: longest - 1].rstrip()}…"
    return "\n".join(paragraphs[index] for index in sorted(chosen))


def _count_matches(text: str, words: Sequence[str]) -> int:
    written = WORD.findall(text)
    return sum(any(_matches(one, [word]) for one in written) for word in words)


def _matches(written: str, words: Sequence[str]) -> bool:
    """True if a word matches one of these stems."""
    low = written.lower()
    return any(low == word or _is_inflection(low, word) for word in words)


def _is_inflection(written: str, stem: str) -> bool:
    stem_base = stem.removesuffix("i")
    return (
        len(stem_base) >= SHORTEST_STEM
        and written.startswith(stem_base)
        and len(written) - len(stem_base) <= LONGEST_ENDING
    )


def _word_start(text: str, index: int) -> int:
    """The start of the next word after a position; 0 at the beginning of the text."""
    return text.find(" ", index) + 1 if index and " " in text[index:] else index
