"""Incremental parser for clauses that may open as a claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from itertools import dropwhile

from conversations.claim_check.claim_lexicon import LEXICONS, ActionKind, ClaimLexicon

# A clause with a longer subject is not treated as a claim.
MAX_SUBJECT_WORDS = 5
# Words that may start a clause after a comma.
CONJUNCTIONS = frozenset(["and", "but", "so", "und", "aber", "et", "mais", "y", "pero", "e", "ma"])
WORD = re.compile(r"[^\W\d_](?:[\w'-]*\w)?'?")


class Opening(IntEnum):
    """The reading of a clause so far. Of several readings the highest wins."""

    FREE = 0
    OPEN = 1
    CLAIM = 2


def read_clause(clause: str, lexicons: Iterable[ClaimLexicon]) -> Opening:
    """The reading of a clause so far. Its last word may be incomplete."""
    text = clause.lstrip(" \n¡").replace("’", "'").lower()
    if not text:
        return Opening.OPEN
    if not text[0].isalpha():
        return Opening.FREE
    words = WORD.findall(text)
    partial = words.pop() if text[-1].isalnum() or text[-1] in "'-" else ""
    if not words and any(word.startswith(partial) for word in CONJUNCTIONS):
        return Opening.OPEN
    rest = list(dropwhile(CONJUNCTIONS.__contains__, words))
    return max(_read(rest, partial, lexicon) for lexicon in lexicons)


def claimed_actions(claim: str) -> set[ActionKind]:
    """The kinds of action that a sentence reports as done, in any language."""
    words = WORD.findall(claim.replace("’", "'").lower())
    return {lexicon.participles[word] for word in words for lexicon in LEXICONS.values() if word in lexicon.participles}


def _read(words: Sequence[str], partial: str, lexicon: ClaimLexicon) -> Opening:
    active = [_words_after(opening, words, partial) for opening in lexicon.active]
    passive = [_words_after(opening, words, partial) for opening in lexicon.passive]
    readings = [
        *(rest if isinstance(rest, Opening) else _participle(rest, partial, lexicon) for rest in active),
        *(rest if isinstance(rest, Opening) else _passive(rest, partial, lexicon) for rest in passive),
    ]
    return max(readings)


def _words_after(opening: tuple[str, ...], words: Sequence[str], partial: str) -> Sequence[str] | Opening:
    """The words after an opening. If the opening is incomplete, OPEN or FREE."""
    length = len(opening)
    if len(words) >= length:
        return words[length:] if tuple(words[:length]) == opening else Opening.FREE
    begins = tuple(words) == opening[: len(words)] and opening[len(words)].startswith(partial)
    return Opening.OPEN if begins else Opening.FREE


def _participle(rest: Sequence[str], partial: str, lexicon: ClaimLexicon) -> Opening:
    """Fillers, then a participle. In languages with a late participle the whole sentence is a claim."""
    if lexicon.late:
        return Opening.CLAIM
    following = [word for word in rest if word not in lexicon.fillers][:1]
    if following:
        return Opening.CLAIM if following[0] in lexicon.participles else Opening.FREE
    expected = (*lexicon.fillers, *lexicon.participles)
    return Opening.OPEN if any(word.startswith(partial) for word in expected) else Opening.FREE


def _passive(rest: Sequence[str], partial: str, lexicon: ClaimLexicon) -> Opening:
    """A short subject, an auxiliary, a participle."""
    for index, word in enumerate(rest[: MAX_SUBJECT_WORDS + 1]):
        if word in lexicon.auxiliaries:
            following = [one for one in rest[index:] if one not in lexicon.auxiliaries]
            return _participle(following, partial if following == [] else "", lexicon)
    return Opening.OPEN if len(rest) <= MAX_SUBJECT_WORDS else Opening.FREE
