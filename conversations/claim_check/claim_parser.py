"""Incremental parser for clauses that may open as a claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from enum import IntEnum
from itertools import dropwhile, takewhile

from conversations.claim_check.claim_lexicon import LEXICONS, ActionKind, ClaimLexicon
from conversations.claim_check.claim_transit import TransitLexicon

# A clause with a longer subject is not treated as a claim.
MAX_SUBJECT_WORDS = 5
# The words of a message's name: "text", "booking confirmation".
MAX_NAME_WORDS = 3
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
    words = _words_of(claim)
    named = {
        lexicon.participles[word] for word in words for lexicon in LEXICONS.values() if word in lexicon.participles
    }
    is_told = any(_is_finished(words, lexicon) for lexicon in LEXICONS.values())
    if is_under_way(claim):
        named.add(ActionKind.SENDING)
    return named or ({ActionKind.OTHER} if is_told else set())


def _is_finished(words: Sequence[str], lexicon: ClaimLexicon) -> bool:
    has_object = any(word in lexicon.objects and lexicon.objects[word] & {*words} for word in words)
    return has_object or bool(lexicon.finished & {*words})


def is_assertion(claim: str) -> bool:
    """False for a sentence that goes on as another one: "It's booked out on Fridays", "It's done with flour"."""
    words = list(dropwhile(CONJUNCTIONS.__contains__, _words_of(claim)))
    if is_under_way(claim):
        return True
    readings = [(_personal(words, "", lexicon), lexicon) for lexicon in LEXICONS.values()]
    if any(reading is Opening.CLAIM for reading, _ in readings):
        return True
    return any(_is_whole(words, claim, lexicon) for lexicon in LEXICONS.values())


def is_under_way(claim: str) -> bool:
    """True if the sentence says that a message is under way."""
    words, text = list(dropwhile(CONJUNCTIONS.__contains__, _words_of(claim))), claim.replace("’", "'").lower()
    transits = [lexicon.transit for lexicon in LEXICONS.values()]
    return any(_transit(words, "", one) is Opening.CLAIM and one.is_claim(text) for one in transits)


def _is_whole(words: Sequence[str], claim: str, lexicon: ClaimLexicon) -> bool:
    """True if an impersonal claim is the whole sentence."""
    if _impersonal(words, "", lexicon) is not Opening.CLAIM:
        return False
    text = claim.replace("’", "'").lower().strip(' \n.!…"”)')
    return lexicon.whole.search(text) is not None and re.match(lexicon.ambiguous, text) is None


def _words_of(claim: str) -> list[str]:
    return WORD.findall(claim.replace("’", "'").lower())


def _read(words: Sequence[str], partial: str, lexicon: ClaimLexicon) -> Opening:
    return max(
        _personal(words, partial, lexicon),
        _impersonal(words, partial, lexicon),
        _transit(words, partial, lexicon.transit),
    )


def _personal(words: Sequence[str], partial: str, lexicon: ClaimLexicon) -> Opening:
    """A claim with an `active` or a `passive` opening."""
    active = [_words_after(opening, words, partial) for opening in lexicon.active]
    passive = [_words_after(opening, words, partial) for opening in lexicon.passive]
    readings = [
        *(rest if isinstance(rest, Opening) else _participle(rest, partial, lexicon) for rest in active),
        *(rest if isinstance(rest, Opening) else _passive(rest, partial, lexicon) for rest in passive),
    ]
    return max(readings)


def _impersonal(words: Sequence[str], partial: str, lexicon: ClaimLexicon) -> Opening:
    """A claim with an `impersonal` opening or none."""
    rests = [_words_after(opening, words, partial) for opening in (*lexicon.impersonal, ())]
    return max(
        rest
        if isinstance(rest, Opening)
        else _first_of(rest, partial, fillers=lexicon.fillers, ends=lexicon.impersonal_ends)
        for rest in rests
    )


def _transit(words: Sequence[str], partial: str, lexicon: TransitLexicon) -> Opening:
    """The name of a message, then a verb that may say that it is under way."""
    beginnings = lexicon.determiners | lexicon.messages
    if not words:
        return Opening.OPEN if any(word.startswith(partial) for word in beginnings) else Opening.FREE
    if words[0] not in beginnings:
        return Opening.FREE
    subject = words[1:] if words[0] in lexicon.determiners else words
    for index, word in enumerate(subject[: MAX_SUBJECT_WORDS + 1]):
        if word in lexicon.carriers:
            if not _is_message(subject[:index], lexicon):
                return Opening.FREE
            following = subject[index + 1 :]
            if not lexicon.firsts:
                return Opening.CLAIM
            return _first_of(following, partial, fillers=lexicon.fillers, ends=lexicon.firsts)
    is_begun = len(_name_of(subject, lexicon)) == len(subject) < MAX_NAME_WORDS
    may_follow = is_begun or (_is_message(subject, lexicon) and len(subject) <= MAX_SUBJECT_WORDS)
    return Opening.OPEN if may_follow else Opening.FREE


def _is_message(subject: Sequence[str], lexicon: TransitLexicon) -> bool:
    """True if the subject without what follows its name is a message."""
    name = _name_of(subject, lexicon)
    return 0 < len(name) <= MAX_NAME_WORDS and name[-1] in lexicon.messages


def _name_of(subject: Sequence[str], lexicon: TransitLexicon) -> Sequence[str]:
    return list(takewhile(lambda word: word not in lexicon.of, subject))


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
    return _first_of(rest, partial, fillers=lexicon.fillers, ends=lexicon.personal_ends)


def _first_of(rest: Sequence[str], partial: str, *, fillers: Set[str], ends: Set[str]) -> Opening:
    """CLAIM if the first word that is no filler is one of `ends`, OPEN if it may become one."""
    following = next((word for word in rest if word not in fillers), None)
    if following is not None:
        return Opening.CLAIM if following in ends else Opening.FREE
    return (
        Opening.OPEN if any(word.startswith(partial) for words in (fillers, ends) for word in words) else Opening.FREE
    )


def _passive(rest: Sequence[str], partial: str, lexicon: ClaimLexicon) -> Opening:
    """A short subject, an auxiliary, a participle."""
    for index, word in enumerate(rest[: MAX_SUBJECT_WORDS + 1]):
        if word in lexicon.auxiliaries:
            following = [one for one in rest[index:] if one not in lexicon.auxiliaries]
            return _participle(following, partial if following == [] else "", lexicon)
    return Opening.OPEN if len(rest) <= MAX_SUBJECT_WORDS else Opening.FREE
