"""Promise detection in Italian, German, French and Spanish, by the phrase book."""

from __future__ import annotations

import re
from functools import cache

from offline_model.action_kinds.kinds import ActionKind
from offline_model.grammar.words import quoted_spans
from offline_model.phrases import PHRASES, wordings

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
    return tuple(
        (action_kind, _pattern(template))
        for language in PHRASES
        if language != "en"
        for key, action_kind in PROMISES.items()
        for template in wordings(key, language)
    )


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(BLANK.sub(".{0,40}?", re.escape(template.rstrip("."))) + r"(?=[.!]|$)")


def find_translated_promises(answer: str) -> list[tuple[ActionKind, str]]:
    """The kinds of action promised in Italian, German, French or Spanish, with the words; not in a quotation."""
    quoted = quoted_spans(answer)
    return [
        (action_kind, found[0])
        for action_kind, pattern in promise_patterns()
        if (found := pattern.search(answer)) and not any(start <= found.start() < end for start, end in quoted)
    ]
