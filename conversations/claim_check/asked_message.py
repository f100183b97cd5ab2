"""The message that the customer asks about, which the answer may call "it": "Did you send the text?" "It's on its way."

Only a short question about a message and nothing else counts. After "Any details on my order?", it is the order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conversations.claim_check.claim_parser import WORD
from conversations.claim_check.claim_transit import TransitLexicon

MOST_WORDS = 8
# Details may be those of anything.
NO_MESSAGE = frozenset({"details", "einzelheiten", "détails", "detalles", "dettagli"})
# How the customer calls it theirs.
POSSESSIVES = frozenset(["my", "any", "mein", "meine", "meinen", "mon", "ma", "mes", "mi", "mis", "mio", "mia", "miei"])
# A determiner for the message, and what the agent calls it. In Spanish and Italian, the verb alone.
REFERENCES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "en": ("the", ("it", "they", "it's", "they're", "it'll", "they'll")),
    "de": ("die", ("sie", "er", "es")),
    "fr": ("le", ("il", "elle", "ils", "elles")),
    "es": ("el", ()),
    "it": ("il", ()),
}
VERBS = {"'s": " is", "'re": " are", "'ll": " will"}
FIRST_WORD = re.compile(r"\s*(?P<word>[\w'’-]+)(?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True)
class AskedMessage:
    """A message that the customer's question names in one language."""

    name: str
    determiner: str
    pronouns: frozenset[str]
    verbs: frozenset[str]

    def named_in(self, clause: str) -> str:
        """The clause with the message's name in place of the word for it; unchanged if it begins otherwise."""
        found = FIRST_WORD.fullmatch(clause)
        if found is None or not found["rest"]:
            return clause
        word = _plain(found["word"])
        if word in self.pronouns:
            verb = next((verb for short, verb in VERBS.items() if word.endswith(short)), "")
            return f"{self.determiner} {self.name}{verb}{found['rest']}"
        return f"{self.determiner} {self.name} {clause.lstrip()}" if word in self.verbs else clause

    def may_begin(self, clause: str) -> bool:
        """True for the incomplete first word of a clause that may become a word for the message."""
        found = FIRST_WORD.fullmatch(clause)
        if found is None or found["rest"]:
            return False
        return any(word.startswith(_plain(found["word"])) for word in self.pronouns | self.verbs)


def asked_messages(question: str, lexicons: Mapping[str, TransitLexicon]) -> list[AskedMessage]:
    """The message that a customer's whole text asks about, in each language that has its name."""
    text = _plain(question.strip())
    words = WORD.findall(text)
    if not text.endswith("?") or len(words) > MOST_WORDS or re.search(r"[.!?…]\s", text):
        return []
    return [
        _asked(name, language, lexicon) for language, lexicon in lexicons.items() for name in _names(words, lexicon)
    ]


def _names(words: Sequence[str], lexicon: TransitLexicon) -> list[str]:
    """The name of the message, unless the question has further things. "Will you text me?" names none."""
    if lexicon.of & {*words}:
        return []
    return [word for at, word in enumerate(words) if _is_name(word, words[:at], lexicon)][-1:]


def _is_name(word: str, before: Sequence[str], lexicon: TransitLexicon) -> bool:
    """True for the name of a message after a determiner, or of more words ("my confirmation email")."""
    if word not in lexicon.messages - NO_MESSAGE:
        return False
    first = next((one for one in reversed(before) if one not in lexicon.messages), "")
    return "'" in word or first in lexicon.determiners | POSSESSIVES


def _asked(name: str, language: str, lexicon: TransitLexicon) -> AskedMessage:
    determiner, pronouns = REFERENCES[language]
    verbs = frozenset() if pronouns else lexicon.carriers
    return AskedMessage(name, determiner, frozenset(pronouns), verbs)


def _plain(text: str) -> str:
    return text.replace("’", "'").lower()
