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
    spots = [match.span() for match in WORD.finditer(text) if _is_met(match[0], found.words)]
    start = _word_start(text, max(0, spots[0][0] - BEFORE)) if spots else 0
    end = min(len(text), start + LENGTH)
    pieces = [Piece("…")] if start else []
    at = start
    for begins, ends in spots:
        if begins < start or ends > end:
            continue
        pieces += [Piece(text[at:begins]), Piece(text[begins:ends], is_marked=True)]
        at = ends
    pieces += [Piece(text[at:end]), Piece("…" if end < len(text) else "")]
    return [piece for piece in pieces if piece.text]


def passage_of(found: Found, *, longest: int) -> str:
    """The whole article if it has at most `longest` characters, otherwise its best matching paragraphs in their order."""
    text = plain_text(found.body).strip()
    if len(text) <= longest:
        return text
    paragraphs = [part.strip() for part in PARAGRAPHS.split(text) if part.strip()]
    ranked = sorted(range(len(paragraphs)), key=lambda at: (-_met_in(paragraphs[at], found.words), at))
    chosen: list[int] = []
    room = longest
    for at in ranked:
        if len(paragraphs[at]) <= room:
            chosen.append(at)
            room -= len(paragraphs[at]) + 1
    if not chosen:
        return f"{paragraphs[ranked[0]][: longest - 1].rstrip()}…"
    return "\n".join(paragraphs[at] for at in sorted(chosen))


def _met_in(text: str, words: Sequence[str]) -> int:
    said = WORD.findall(text)
    return sum(any(_is_met(one, [word]) for one in said) for word in words)


def _is_met(said: str, words: Sequence[str]) -> bool:
    """True if a word matches one of these stems."""
    low = said.lower()
    return any(low == word or _is_form(low, word) for word in words)


def _is_form(said: str, stem: str) -> bool:
    kept = stem.removesuffix("i")
    return len(kept) >= SHORTEST_STEM and said.startswith(kept) and len(said) - len(kept) <= LONGEST_ENDING


def _word_start(text: str, at: int) -> int:
    """The start of the next word after a position; 0 at the beginning of the text."""
    return text.find(" ", at) + 1 if at and " " in text[at:] else at
