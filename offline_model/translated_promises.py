"""Promise detection in Italian, German, French and Spanish, by the phrase book."""

from __future__ import annotations

import re
from functools import cache

from offline_model.action_kinds.kinds import ActionKind
from offline_model.phrases import PHRASES

PROMISES = {
    "check": ActionKind.AVAILABILITY,
    "lookup": ActionKind.SEARCH,
    "book": ActionKind.BOOKING,
    "cancel": ActionKind.CANCEL,
    "sms": ActionKind.SMS,
    "mail": ActionKind.EMAIL,
    "transfer": ActionKind.TRANSFER,
}
BLANK = re.compile(r"\\\{\w+\\\}")


@cache
def promise_patterns() -> tuple[tuple[ActionKind, re.Pattern[str]], ...]:
    """Each promise of the phrase book as a pattern, with anything short in its blanks."""
    books = [book for language, book in PHRASES.items() if language != "en"]
    return tuple((action_kind, _pattern(book[key])) for book in books for key, action_kind in PROMISES.items())


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(BLANK.sub(".{0,40}?", re.escape(template.rstrip("."))) + r"(?=[.!]|$)")


def find_translated_promises(answer: str) -> list[tuple[ActionKind, str]]:
    """The kinds of action promised in Italian, German, French or Spanish, with the words."""
    return [(action_kind, found[0]) for action_kind, pattern in promise_patterns() if (found := pattern.search(answer))]
