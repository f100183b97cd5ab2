"""Relations between a predicate and the other clauses of its sentence."""

from __future__ import annotations

from dataclasses import dataclass

from offline_model.grammar.predicate import Marker, Mood, Predicate, Subject
from offline_model.grammar.words import Sentence
from offline_model.wordlist import words

WISHES = words("want like wish prefer")
CHECKING = words(
    """
    check see look find ask verify confirm know search tell inquire enquire review consult double-check
    """
)


@dataclass(frozen=True)
class SentenceClauses:
    """One sentence of the answer with its predicates and its neighbours."""

    sentence: Sentence
    predicates: list[Predicate]
    index: int


class ClauseContext:
    """One predicate among its neighbours: which clause governs which."""

    def __init__(self, parts: list[SentenceClauses], part: SentenceClauses, at: int) -> None:
        self.parts = parts
        self.part = part
        self.at = at
        self.p = part.predicates[at]
        self.words = part.sentence.words

    def text(self, a: int, b: int) -> str:
        return " ".join(word.text for word in self.words[a:b])

    def _is_complement(self, at: int) -> bool:
        """ "Check if there is a table": what is checked, no condition."""
        if not at:
            return False
        owner = self.part.predicates[at - 1]
        between = self.words[owner.verb_at : self.part.predicates[at].start]
        is_near = not any(word.text in (",", ";", "—", "–") for word in between)
        joined = between and between[-1].text == "and"
        return (
            is_near
            and owner.lemma in CHECKING | {"have", "take", "do", "run", "make"}
            and not joined
            and owner.subject is not Subject.YOU
        )

    def _governs(self, at: int) -> bool:
        """True when the subordinate clause `at` belongs to this predicate: the main clause after it, or the one before."""
        following = [
            i
            for i, p in enumerate(self.part.predicates)
            if i > at and p.marker in (Marker.NONE, Marker.WHILE) and not self._is_relative(at, i)
        ]
        start = self.part.predicates[at].start
        opens = start == 0 or (
            self.words[start - 1].text in ("and", "but", "so", ";", ":", "—", "–", ",") and self._comma_after(at)
        )
        is_fronted = bool(following) and (opens or not self._mains_before(at) or self._is_spliced(at))
        if is_fronted:
            first = following[0]
            return self.at >= first and self._same_chain(first)
        before = self._mains_before(at)
        return bool(before) and self.at in self._chain_back(before[-1])

    def _is_relative(self, at: int, i: int) -> bool:
        """ "As soon as I have the number you used, …": a customer's clause within the clause `at`, before its comma."""
        p, following = self.part.predicates[i], self.part.predicates[i + 1 :]
        if p.subject is not Subject.YOU or not any(one.marker is Marker.NONE for one in following):
            return False
        between = [word.text for word in self.words[self.part.predicates[at].verb_at : p.start]]
        return not {",", "and", "but", "or"} & set(between) and "," in [
            word.text for word in self.words[p.verb_at : p.end]
        ]

    def _is_spliced(self, at: int) -> bool:
        """ "You'll have it as soon as he's back, I'll send it then": of the agent's two clauses it may govern the second."""
        before, following = self._mains_before(at), self.part.predicates[at + 1 : at + 2]
        if not following or not self._opens_main(following[0]):
            return False
        is_after_comma = self.words[following[0].start - 1].text == ","
        return is_after_comma and self.part.predicates[before[-1]].subject is not Subject.AGENT

    def _mains_before(self, at: int) -> list[int]:
        return [i for i, p in enumerate(self.part.predicates[:at]) if p.marker in (Marker.NONE, Marker.WHILE)]

    def _comma_after(self, at: int) -> bool:
        """True when a comma parts the clause `at` from a full main clause behind it; "if you want I'll…" needs none."""
        predicates = self.part.predicates
        if at + 1 >= len(predicates):
            return False
        following = predicates[at + 1]
        if following.start == predicates[at].end and (predicates[at].lemma in WISHES or self._opens_main(following)):
            return True
        span = [word.text for word in self.words[predicates[at].start : predicates[at + 1].verb_at]]
        return "," in span

    @staticmethod
    def _opens_main(p: Predicate) -> bool:
        """ "… and when she's free I'll connect you": a main clause of the agent's own, right behind."""
        return p.is_new_clause and p.marker is Marker.NONE and p.subject is Subject.AGENT and p.mood is Mood.COMMIT

    def _same_chain(self, first: int) -> bool:
        return (
            all(not p.is_new_clause or i == first for i, p in enumerate(self.part.predicates) if first <= i <= self.at)
            or self.at - first <= 1
        )

    def _chain_back(self, last: int) -> set[int]:
        """The predicate and those before it that share its subject: "I'll book it and text you, if you like"."""
        chain = {last}
        while last > 0 and not self.part.predicates[last].is_new_clause:
            last -= 1
            chain.add(last)
        return chain

    def _joined_to_previous(self) -> bool:
        between = [word.text for word in self.words[max(0, self.p.start - 3) : self.p.start + 1]]
        return any(word in ("and", "so", "then") for word in between) or "then" in self.p.flags

    def _last_mark(self) -> int:
        marks = [i for i, word in enumerate(self.words) if word.text in (",", ";", "—", "–", "-", ":")]
        return marks[-1] if marks else -1
