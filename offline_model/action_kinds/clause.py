"""Words of one clause, prepared for matching."""

from __future__ import annotations

from dataclasses import dataclass

from offline_model.grammar.rules import Reading
from offline_model.grammar.verbs import Form, verb_of


@dataclass(frozen=True)
class Clause:
    """The words of a predicate, ready to be matched."""

    lemma: str
    form: Form
    rest: tuple[str, ...]
    after: tuple[str, ...]
    """The rest, up to the next main clause."""
    subject: tuple[str, ...] = ()
    """The words of a subject that isn't the agent."""

    @property
    def here(self) -> set[str]:
        return {*self.rest, *self.subject}

    @property
    def all(self) -> set[str]:
        return {*self.after, *self.subject}

    @property
    def phrase(self) -> str:
        return " ".join(self.rest)

    @property
    def whole(self) -> str:
        return " ".join(self.after)


def clause_of(reading: Reading, *, reach: int) -> Clause:
    """The words of a reading's clause; the next main clause starts at the word `reach`."""
    p = reading.predicate
    texts = [part for word in reading.sentence.words for part in (word.text,)]
    lemma, rest = p.lemma, texts[p.verb_at + 1 : p.end]
    after = texts[p.verb_at + 1 : max(reach, p.end)]
    subject = texts[p.start : p.verb_at] if p.subject.value != "agent" else []
    if p.lemma in ("have", "get") and (caused := _caused(rest)):
        lemma = caused
    split = [piece for text in rest for piece in _pieces(text)]
    return Clause(lemma, p.form, tuple(split), tuple(x for t in after for x in _pieces(t)), tuple(subject))


def _pieces(text: str) -> list[str]:
    return text.split("-") if "-" in text and "@" not in text else [text]


def _caused(rest: list[str]) -> str | None:
    """ "I'll have a text sent", "get you booked in": the participle names the deed."""
    for i, text in enumerate(rest[:9]):
        known = verb_of(text)
        if known and known[1] is Form.PAST and i and known[0] not in ("have", "do", "let", "set", "put", "read", "get"):
            return known[0]
    return None
