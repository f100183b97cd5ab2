"""What is left to be done in the languages that the grammar doesn't read, sentence by sentence; the words are in phrases.json."""

from __future__ import annotations

import re
from functools import cache

from offline_model.phrases import COMMITMENT_PATTERNS

SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")


def is_promise(sentence: str) -> bool:
    """Whether the agent commits to something, now and without a condition. A question is an offer."""
    return not sentence.endswith("?") and _says("promise", sentence) and not _says("later", sentence)


def is_request(sentence: str) -> bool:
    """Whether a customer asks a person for something."""
    return _says("request", sentence)


def is_refusal(text: str) -> bool:
    """Whether the agent says that it can't be done."""
    return _says("refusal", text)


def is_about(topic: str, text: str) -> bool:
    """Whether a text is about `mail`, a `call`, or the `team`."""
    return _says(topic, text)


def sentences(text: str) -> list[str]:
    """The sentences of a message, each as it stands."""
    return [found[0].strip() for found in SENTENCE.finditer(text) if found[0].strip()]


@cache
def _patterns(key: str) -> re.Pattern[str]:
    """The patterns of all languages: a message is short, and its language is not always told by it."""
    return re.compile(
        "|".join(pattern for book in COMMITMENT_PATTERNS.values() for pattern in book[key]), re.IGNORECASE
    )


def _says(key: str, text: str) -> bool:
    return _patterns(key).search(text) is not None
