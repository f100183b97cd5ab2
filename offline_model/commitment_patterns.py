"""Pattern matching for commitments and requests in languages other than English."""

from __future__ import annotations

import re
from functools import cache

from offline_model.phrases import COMMITMENT_PATTERNS

SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")


def is_promise(sentence: str) -> bool:
    """True for an unconditional commitment of the agent; a question is an offer."""
    return not sentence.endswith("?") and _says("promise", sentence) and not _says("later", sentence)


def is_request(sentence: str) -> bool:
    """True if a customer requests something from a person."""
    return _says("request", sentence)


def is_refusal(text: str) -> bool:
    """True if the agent declines."""
    return _says("refusal", text)


def is_about(topic: str, text: str) -> bool:
    """True if the text is about the topic `mail`, `call` or `team`."""
    return _says(topic, text)


def sentences(text: str) -> list[str]:
    """Sentences of a message, verbatim."""
    return [found[0].strip() for found in SENTENCE.finditer(text) if found[0].strip()]


@cache
def _patterns(key: str) -> re.Pattern[str]:
    """Combined pattern of all languages, since short messages don't reveal theirs."""
    return re.compile(
        "|".join(pattern for book in COMMITMENT_PATTERNS.values() for pattern in book[key]), re.IGNORECASE
    )


def _says(key: str, text: str) -> bool:
    return _patterns(key).search(text) is not None
