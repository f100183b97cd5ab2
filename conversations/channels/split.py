"""Splits a long reply into parts that a channel takes, at ends of paragraphs, sentences or words, in this order."""

from __future__ import annotations

import re

PARAGRAPH, LINE, SENTENCE, WORD = (re.compile(end) for end in (r"\n{2,}", r"\n", r"(?<=[.!?…。！？])\s+", r"\s+"))
ENDS = (PARAGRAPH, LINE, SENTENCE, WORD)


def split_text(text: str, *, longest: int) -> list[str]:
    """The parts of a text, each of at most `longest` UTF-16 units, as Telegram counts them. No word is lost."""
    parts, rest = list[str](), text.strip()
    while units(rest) > longest:
        end, following = _cut(rest, longest)
        parts.append(rest[:end].rstrip())
        rest = rest[following:].lstrip()
    return [part for part in (*parts, rest) if part]


def units(text: str) -> int:
    """The length in UTF-16 units, in which an emoji counts twice."""
    return len(text) + sum(1 for letter in text if ord(letter) > 0xFFFF)


def _cut(text: str, longest: int) -> tuple[int, int]:
    """The last good end of a part, and where the next one starts."""
    window = _window(text, longest)
    for end in ENDS:
        # An end in the first half would leave a short part, except where nothing better comes.
        found = [match for match in end.finditer(text, 0, window + 1) if match.start() <= window]
        good = [match for match in found if match.start() > window // 2]
        if good:
            return good[-1].start(), good[-1].end()
    return window, window


def _window(text: str, longest: int) -> int:
    """The number of characters that fit."""
    size = 0
    for number, letter in enumerate(text):
        size += 2 if ord(letter) > 0xFFFF else 1
        if size > longest:
            return number
    return len(text)
