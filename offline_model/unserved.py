"""What the agent promises that people have to do: commitments that no tool serves."""

from __future__ import annotations

import re
from typing import Any

from offline_model.grammar.rules import read_answer

# Only what is done by somebody, later; the agent's own talking on is no promise.
BY_PEOPLE = re.compile(
    r"\b(?:colleagues?|team|kitchen|chef|manager|owner|staff|boss|someone|somebody)\b"
    r"|\b(?:call|ring|phone) you\b|\bget back to you\b|\bfind (?:it |that )?out\b|\blook into\b",
    re.IGNORECASE,
)
BY_TOOL = re.compile(r"\b(?:transfer|connect|put you through|hand you over)\b", re.IGNORECASE)


def unsupported_promises(answer: str, *, served: list[str]) -> list[dict[str, Any]]:
    """The sentences in which the agent commits to something of that kind, unless a tool serves their words."""
    sentences = [reading.sentence.words for reading in read_answer(answer) if reading.rule is None]
    texts = dict.fromkeys(answer[words[0].start : words[-1].end] for words in sentences)
    return [
        {"quote": text, "what": text}
        for text in texts
        if BY_PEOPLE.search(text) and not BY_TOOL.search(text) and not any(quote in text for quote in served)
    ]
