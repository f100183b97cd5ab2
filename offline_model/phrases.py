"""Phrase book in five languages, loaded from phrases.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BOOK: dict[str, Any] = json.loads(Path(__file__).with_name("phrases.json").read_text(encoding="utf-8"))
# A phrase that may be due again and again has several wordings.
PHRASES: dict[str, dict[str, str | list[str]]] = BOOK["phrases"]
DAYTIMES: dict[str, list[str]] = BOOK["daytimes"]
DAY_WORDS: dict[str, list[str]] = BOOK["days"]
RANGE_WORDS: dict[str, list[str]] = BOOK["ranges"]
CLOSED: dict[str, str] = BOOK["closed"]
DAY_RANGES: dict[str, list[str]] = BOOK["day_ranges"]
SALUTATIONS: dict[str, str] = BOOK["salutations"]
MAKE_GOOD: dict[str, list[str]] = BOOK["make_good"]
COMMITMENT_PATTERNS: dict[str, dict[str, list[str]]] = BOOK["commitment_patterns"]


def phrase(key: str, language: str, **values: str) -> str:
    """A phrase in the given language, falling back to English, in its first wording."""
    return wordings(key, language)[0].format(**values)


def wordings(key: str, language: str) -> list[str]:
    """The templates of a phrase in the given language, falling back to English."""
    book = PHRASES.get(language, PHRASES["en"])
    found = book.get(key, PHRASES["en"][key])
    return [found] if isinstance(found, str) else found


def salutation(language: str) -> str:
    """Salutation of an e-mail."""
    return SALUTATIONS.get(language, SALUTATIONS["en"])


def make_good_in(language: str) -> tuple[str, str]:
    """Apology for a broken promise and the colleague's next step, with a `{promise}` placeholder."""
    correction, step = MAKE_GOOD.get(language, MAKE_GOOD["en"])
    return correction, step


def daytime(hour: int, language: str) -> str:
    words = DAYTIMES.get(language, DAYTIMES["en"])
    return words[0] if hour < 12 else words[1] if hour < 18 else words[2]


def day_word(day: str, language: str) -> str:
    """An English weekday in the language; any other day as it is."""
    english = DAY_WORDS["en"]
    return DAY_WORDS.get(language, english)[english.index(day)] if day in english else day


def days_in(first: int, last: int, language: str) -> str:
    """Two weekdays (0 is Monday) as a range in the language."""
    words = DAY_WORDS.get(language, DAY_WORDS["en"])
    if first == last:
        return words[first]
    many, two = DAY_RANGES.get(language, DAY_RANGES["en"])
    return (two if last - first == 1 else many).format(words[first], words[last])


def hours_in(hours: str, language: str) -> str:
    """ "12:00 to 15:00 and 18:30 to 23:00", or "closed", in the language."""
    if hours == "closed":
        return CLOSED.get(language, "closed")
    to, both = RANGE_WORDS.get(language, RANGE_WORDS["en"])
    return hours.replace(" and ", both).replace(" to ", to)
