"""Promises in the other languages of the phrase book: its own sentences, since the grammar reads English only."""

from __future__ import annotations

import re
from functools import cache

from offline_model.action_kinds.kinds import Matter
from offline_model.phrases import PHRASES

PROMISES = {
    "check": Matter.AVAILABILITY,
    "lookup": Matter.SEARCH,
    "book": Matter.BOOKING,
    "cancel": Matter.CANCEL,
    "sms": Matter.SMS,
    "mail": Matter.EMAIL,
    "transfer": Matter.TRANSFER,
}
BLANK = re.compile(r"\\\{\w+\\\}")


@cache
def promise_patterns() -> tuple[tuple[Matter, re.Pattern[str]], ...]:
    """Each promise of the phrase book as a pattern, with anything short in its blanks."""
    books = [book for language, book in PHRASES.items() if language != "en"]
    return tuple((matter, _pattern(book[key])) for book in books for key, matter in PROMISES.items())


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(BLANK.sub(".{0,40}?", re.escape(template.rstrip("."))) + r"(?=[.!]|$)")


def foreign_promises(answer: str) -> list[tuple[Matter, str]]:
    """The kinds of action promised in Italian, German, French or Spanish, with the words."""
    return [(matter, found[0]) for matter, pattern in promise_patterns() if (found := pattern.search(answer))]
