"""Titles of todos: one short line that names a todo in lists and on buttons."""

from __future__ import annotations

import re

LONGEST_TITLE = 60
# The words that a task quotes say more than the sentence around them.
_QUOTED = re.compile(r"“([^”]+)”")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


def title_from(task: str) -> str:
    """A title for a task: the words it quotes, or else its first sentence, cut at a word."""
    quoted = _QUOTED.search(task)
    line = " ".join((quoted[1] if quoted else task).split())
    return shorten_title(_SENTENCE_END.split(line, maxsplit=1)[0].rstrip("."))


def shorten_title(text: str) -> str:
    """The text on one line, cut at a word to LONGEST_TITLE characters."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_TITLE:
        return line
    return f"{line[:LONGEST_TITLE].rsplit(' ', 1)[0][: LONGEST_TITLE - 1]}…"
