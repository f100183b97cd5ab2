"""Sequence and condition adverbials of a predicate."""

from __future__ import annotations

import re

from offline_model.grammar.clause_context import ClauseContext
from offline_model.grammar.lexicon import INFO_REQUESTS, MOMENTS, WAITING
from offline_model.grammar.predicate import Marker, Mood, Predicate, Subject
from offline_model.wordlist import words

AFTER_NOUNS = (
    "upon your",
    "upon confirmation",
    "after your",
    "after the payment",
    "after payment",
    "after confirmation",
    "on receipt",
    "once confirmed",
    "once done",
    "after our",
    "after this",
    "once that",
    "upon receipt",
    "following your",
)


FIRST_THINGS = (" but first ", " but before that ", " but first of all ", " only first ")
PAST_TIMES = (
    " yesterday",
    " ago",
    " last week",
    " last month",
    " last night",
    " last time",
    " earlier ",
    " this morning",
)


# Sequence adverbials after the verb.
THEREAFTER = re.compile(r" (?:after that|afterwards?|thereafter)\b(?! time)")
WHERE_TIMES_STAND = words(
    "out up for you quickly just now exactly in on the our my her his calendar schedule diary book system roster list"
)
NEEDING = {"ask", "know", "have", "take", "get", "confirm", "note", "check"}


class Adverbials(ClauseContext):
    """Checks for later steps and conditions."""

    def is_invited(self) -> bool:
        """ "Just say the word and I'll book it"."""
        before = self.part.predicates[self.at - 1] if self.at else None
        if before is None or before.mood is not Mood.REQUEST or not self._joined_to_previous():
            return False
        span = self.text(before.verb_at, before.end)
        return span.startswith(("say the word", "say yes", "say so", "let me know", "let us know", "say when"))

    def is_later_step(self) -> bool:
        p = self.p
        if "then" in p.flags and self._has_earlier_act():
            return True
        if "later" in p.flags or self._is_put_behind():
            return True
        if THEREAFTER.search(f" {self.text(p.verb_at, p.end)}") and self._has_earlier_act():
            return True
        if self._comes_after_clause() or self._comes_after_request():
            return True
        rest = self.text(0, len(self.words))
        return any(phrase in rest for phrase in AFTER_NOUNS) and "right after this" not in rest

    def _is_put_behind(self) -> bool:
        """ "I'll check, but first…": what is told second comes first."""
        before, following = self.text(0, self.p.start), f" {self.text(self.p.verb_at, len(self.words))} "
        return before.endswith((" first ,", " first , and")) or any(phrase in following for phrase in FIRST_THINGS)

    def is_told_as_past(self) -> bool:
        """ "We set it up last week": a verb whose past looks like its present."""
        following = f" {self.text(self.p.verb_at, self.p.end)} "
        return any(phrase in following for phrase in PAST_TIMES)

    def _has_earlier_act(self) -> bool:
        """True when an earlier clause, here or a sentence before, is an act that this one follows."""
        earlier = self.part.predicates[: self._head()]
        if any(one.marker is not Marker.IF for one in earlier):
            return True
        if any(part.sentence.is_question for part in self.parts[: self.part.index]):
            return True
        previous = [p for part in self.parts[: self.part.index] for p in part.predicates]
        return any(one.subject is Subject.AGENT or one.is_question or one.mood is Mood.REQUEST for one in previous)

    def _head(self) -> int:
        """Index of the predicate that carries "then" for this one ("then I'll check it and book it")."""
        at = self.at
        while at and not self.part.predicates[at].is_new_clause and "then" in self.part.predicates[at - 1].flags:
            at -= 1
        return at

    def _comes_after_clause(self) -> bool:
        """A clause with once, when or as soon as governs this one."""
        for at, other in enumerate(self.part.predicates):
            if other.marker is not Marker.AFTER or other is self.p or other.is_question:
                continue
            opener = self.words[other.start].text
            if opener in ("until", "till") or (opener == "when" and self._is_asked(at)):
                continue
            if self._governs(at):
                return True
        return False

    def _is_asked(self, at: int) -> bool:
        """ "Check the calendar when she's free": what is looked up. "Check the stock when he's back" comes after."""
        if not self._is_complement(at):
            return False
        owner = self.part.predicates[at - 1]
        between = {word.text for word in self.words[owner.verb_at + 1 : self.part.predicates[at].start]}
        return between <= WHERE_TIMES_STAND

    def _comes_after_request(self) -> bool:
        """ "Tell me your number and I'll text you": the customer's part comes first."""
        if not self.at:
            return False
        before = self.part.predicates[self.at - 1]
        if before.marker is Marker.IF and self.at > 1:
            before = self.part.predicates[self.at - 2]
        is_request = before.mood is Mood.REQUEST or (before.is_question and before.subject is Subject.YOU)
        joined = self._joined_to_previous()
        if is_request and joined and before.lemma in INFO_REQUESTS and not self._is_moment(before):
            return True
        return before.mood is Mood.NEED and before.subject is Subject.AGENT and joined and before.lemma in NEEDING

    def _is_moment(self, before: Predicate) -> bool:
        span = {word.text for word in self.words[before.verb_at : before.end]}
        return before.lemma in WAITING and bool(span & MOMENTS or "line" in span)

    def has_condition(self) -> bool:
        if "if" in self.p.flags or self._is_after_inversion():
            return True
        for at, other in enumerate(self.part.predicates):
            if other.marker is Marker.IF and other is not self.p and not self._is_complement(at) and self._governs(at):
                return True
        text = f" {self.text(0, len(self.words))} "
        if any(
            p in text
            for p in (
                " just say ",
                " say the word ",
                " say yes ",
                " if you like ",
                " if you wish ",
                " if so ",
                " otherwise ",
                " if needed ",
                " if necessary ",
                " if possible ",
                " unless ",
            )
        ):
            return (
                not any(text.startswith(f" {mark}") for mark in ("just say hello",)) and not self._condition_elsewhere()
            )
        return False

    def _is_after_inversion(self) -> bool:
        """ "Should the rain stop, I'll check": a condition without "if"."""
        return self.at > 0 and self.words[0].text == "should" and not self.part.sentence.is_question

    def _condition_elsewhere(self) -> bool:
        """True when the words above belong to a clause that has been weighed already."""
        return any(p.marker is Marker.IF for p in self.part.predicates)
