"""Instruction filter: replaces instructions for the agent that a model repeats in its reply.

Text is held back only while it may become an instruction.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from conversations.claim_check.claim_lexicon import HONEST
from conversations.common.instructions import NOT_APPROVED, OUTCOME_UNKNOWN, TAKES_LONGER

Release = Callable[[str], None]

# Each instruction with the honest sentence in its place, by its position in HONEST.
SENTENCES = {TAKES_LONGER: 0, OUTCOME_UNKNOWN: 1, NOT_APPROVED: 3}
REPEATED = re.compile("|".join(map(re.escape, SENTENCES)), re.IGNORECASE)
SHORTEST, LONGEST = min(map(len, SENTENCES)), max(map(len, SENTENCES))
# The words with which every instruction begins, in lower case.
HEAD = "say "


class InstructionFilter:
    """Passes a reply's text on to `release`, with an honest sentence in place of each repeated instruction."""

    def __init__(self, release: Release, *, language: str) -> None:
        self._release = release
        self._sentences = HONEST.get(language, HONEST["en"])
        self._held = ""

    def write(self, piece: str) -> None:
        """Add a piece of text and release as much as possible."""
        text = self._held + piece
        if len(text) >= SHORTEST:
            text = REPEATED.sub(self._replaced, text)
        self._hold(text, length=_length_of_beginning(text))

    def close(self) -> None:
        """End the reply and release the held text."""
        self._hold(self._held, length=0)

    def _hold(self, text: str, *, length: int) -> None:
        released, self._held = text[: len(text) - length], text[len(text) - length :]
        if released:
            self._release(released)

    def _replaced(self, found: re.Match[str]) -> str:
        instruction = next(one for one in SENTENCES if one.lower() == found[0].lower())
        return self._sentences[SENTENCES[instruction]]


def _length_of_beginning(text: str) -> int:
    """The length of the text's end that may become an instruction."""
    end = text[-LONGEST:].lower()
    if (at := end.rfind(HEAD)) >= 0 and any(one.lower().startswith(end[at:]) for one in SENTENCES):
        return len(end) - at
    return next((length for length in range(len(HEAD) - 1, 0, -1) if end.endswith(HEAD[:length])), 0)
