"""Commitment rules: classifies a predicate as a commitment, or names the rule that excludes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from offline_model.grammar.clause_context import SentenceClauses
from offline_model.grammar.clauses import find_predicates
from offline_model.grammar.consent import Consent
from offline_model.grammar.lexicon import MOMENTS
from offline_model.grammar.predicate import Marker, Mood, Predicate, Subject
from offline_model.grammar.verbs import SPEECH, Form, verb_of
from offline_model.grammar.words import Sentence, read_sentences


class Rule(StrEnum):
    """Rules that exclude a commitment, named as in the detection prompt."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FUTURE_STEP = "future_step"
    OFFER = "offer"
    SUBJECT = "subject"
    NEGATION = "negation"
    QUOTATION = "quotation"


@dataclass(frozen=True)
class Reading:
    """One predicate with its place and its rule; `rule` None means that the agent commits to it now."""

    sentence: Sentence
    index: int
    predicate: Predicate
    rule: Rule | None


def read_answer(text: str) -> list[Reading]:
    """Every predicate of the answer, judged in the light of the sentences around it."""
    parts = [SentenceClauses(s, find_predicates(s), i) for i, s in enumerate(read_sentences(text))]
    return [
        Reading(part.sentence, part.index, predicate, _Judge(parts, part, at).rule())
        for part in parts
        for at, predicate in enumerate(part.predicates)
    ]


class _Judge(Consent):
    """Applies the rules to one predicate, the most telling first."""

    def rule(self) -> Rule | None:
        if self.is_quotation():
            return Rule.QUOTATION
        if self.p.is_negated and not self.is_suggestion():
            return Rule.NEGATION
        if self.p.subject is not Subject.AGENT:
            return self._of_others()
        if self.p.marker not in (Marker.NONE, Marker.TO):
            return self._of_subordinate()
        if self.p.marker is Marker.TO:
            return self._of_infinitive()
        return self._of_agent()

    def is_quotation(self) -> bool:
        if self.words[self.p.verb_at].is_quoted:
            return True
        before = self.text(0, self.p.start)
        own = self.text(self.p.start, self.p.verb_at)
        if any(
            phrase in f"{before} {own} "
            for phrase in (
                "for example ",
                "for instance ",
                "as you said ",
                "as you put it ",
                "you said ",
                "e.g. ",
                "you wrote ",
            )
        ):
            return True
        return self._is_reported()

    def _is_reported(self) -> bool:
        """Told by a speech verb just before: "the manager said", "you told me that"; not "I promise"."""
        before = self.words[: self.p.verb_at]
        reach = before[self.p.start :] if self.p.start < len(before) else []
        earlier = self.part.predicates[self.at - 1] if self.at else None
        for i, word in enumerate(reach):
            known = verb_of(word.text)
            if known and known[0] in SPEECH and known[1] in (Form.PAST, Form.THIRD) and i < len(reach) - 1:
                return True
        if earlier is None or earlier.lemma not in SPEECH or self._separated(earlier):
            return False
        if earlier.subject is Subject.AGENT:
            return (earlier.is_past or earlier.is_perfect) and self.p.is_new_clause and self.p.marker is Marker.NONE
        is_told = earlier.is_past or earlier.form is Form.THIRD or earlier.is_perfect or earlier.mood is Mood.PLAIN
        return is_told and self.p.subject is Subject.AGENT and not earlier.is_question

    def _separated(self, earlier: Predicate) -> bool:
        between = [word.text for word in self.words[earlier.verb_at : self.p.verb_at]]
        return any(mark in between for mark in (",", ";", "—", "–", "and", "but", ":", "so", "-"))

    def is_suggestion(self) -> bool:
        """ "Why don't I check": negative in form only."""
        return self.p.marker is Marker.HOW_ABOUT or (self.p.is_question and self.p.subject is Subject.AGENT)

    def _of_others(self) -> Rule | None:
        if self._is_made_sure():
            governor = self.part.predicates[self.at - 1]
            return _Judge(self.parts, self.part, self.part.predicates.index(governor)).rule()
        if self.p.is_passive or self.p.is_perfect:
            return self._of_passive()
        if self.p.subject is Subject.OTHER and self.p.lemma == "go" and self.p.is_progressive:
            return Rule.IN_PROGRESS
        is_wish = self.p.lemma in ("like", "want", "prefer", "need", "love") and self.p.subject is Subject.YOU
        if is_wish and (self.p.is_question or self.p.marker is Marker.IF):
            return Rule.OFFER
        if self.p.marker is Marker.IF and self.p.subject is Subject.YOU:
            return Rule.OFFER
        wished = self.at > 0 and self.part.predicates[self.at - 1].lemma in ("like", "want", "care")
        if self.p.is_question and self.p.mood is Mood.OFFER and (wished or self.p.subject is Subject.YOU):
            return Rule.OFFER
        return Rule.SUBJECT

    def _is_made_sure(self) -> bool:
        """ "I'll make sure you get a text": the promise lies in the making sure."""
        if not self.at:
            return False
        governor = self.part.predicates[self.at - 1]
        if governor.subject is not Subject.AGENT or governor.lemma not in ("make", "ensure", "see", "guarantee"):
            return False
        between = self.text(governor.verb_at, self.p.verb_at)
        return (
            governor.lemma == "ensure"
            or governor.lemma == "guarantee"
            or "make sure" in between
            or "see to it" in between
        )

    def _of_passive(self) -> Rule:
        if self.p.is_progressive or "being" in self.text(self.p.start, self.p.verb_at).split():
            return Rule.IN_PROGRESS
        subject = set(self.text(self.p.start, self.p.verb_at).split())
        is_state = (
            bool(subject & {"your", "you", "it", "the", "that", "this", "everything", "all"}) or self.p.is_perfect
        )
        if self.p.mood is Mood.PLAIN and self.p.marker is Marker.NONE and is_state:
            return Rule.COMPLETED
        return Rule.SUBJECT

    def _of_subordinate(self) -> Rule | None:
        match self.p.marker:
            case Marker.IF | Marker.HOW_ABOUT:
                return Rule.OFFER
            case Marker.AFTER | Marker.BEFORE:
                return Rule.FUTURE_STEP
            case Marker.SO_THAT:
                return self._of_agent() if self._is_own_clause() else Rule.FUTURE_STEP
            case Marker.WITHOUT:
                return Rule.NEGATION
            case Marker.WHILE:
                return self._of_while()
            case _:
                return self._of_agent()

    def _is_own_clause(self) -> bool:
        """ "…, so I'm connecting you" says it; "so I can text you" and "so we reach you" name a purpose."""
        p = self.p
        return p.mood is Mood.COMMIT or p.is_perfect or p.is_past or (p.is_progressive and p.mood is Mood.PLAIN)

    def _of_while(self) -> Rule | None:
        """ "Please hold while I transfer you" promises; "while I'm still checking" does not."""
        if self.p.is_past or self.p.is_perfect:
            return Rule.COMPLETED
        if "still" in self.p.flags:
            return Rule.IN_PROGRESS
        return Rule.OFFER if self.p.mood is Mood.OFFER else None

    def _of_infinitive(self) -> Rule | None:
        governor = self.part.predicates[self.p.governor] if self.p.governor is not None else None
        before = self.words[self.p.verb_at - 2].text if self.p.verb_at > 1 else ""
        if before in MOMENTS or self._moment_before():
            return None
        if governor is None:
            return Rule.FUTURE_STEP
        if governor.subject is Subject.AGENT and governor.lemma in (
            "ask",
            "tell",
            "request",
            "get",
            "have",
            "instruct",
            "remind",
        ):
            return Rule.SUBJECT
        if governor.subject is Subject.AGENT and governor.lemma not in ("need", "require", "want", "use", "take"):
            return _Judge(self.parts, self.part, self.p.governor or 0).rule()
        if governor.lemma == "use" and governor.subject is Subject.AGENT:
            return _Judge(self.parts, self.part, self.p.governor or 0).rule()
        if governor.subject is Subject.YOU and governor.lemma in ("like", "want", "prefer", "love", "care", "wish"):
            return Rule.OFFER if governor.is_question or governor.marker is Marker.IF else Rule.SUBJECT
        if governor.subject is Subject.AGENT or governor.is_question or governor.mood is Mood.REQUEST:
            return Rule.FUTURE_STEP
        return Rule.SUBJECT

    def _moment_before(self) -> bool:
        reach = [word.text for word in self.words[max(0, self.p.verb_at - 5) : self.p.verb_at]]
        return any(word in ("moment", "second", "minute", "sec", "seconds", "minutes", "instant") for word in reach)

    def _of_agent(self) -> Rule | None:
        p = self.p
        if p.is_question or p.marker is Marker.HOW_ABOUT:
            return Rule.OFFER
        if self._has_begun():
            return Rule.IN_PROGRESS
        if (p.is_perfect or p.is_past or (p.form is Form.PAST and not p.is_passive)) and p.mood is not Mood.OFFER:
            return Rule.COMPLETED
        if "already" in p.flags and p.mood is Mood.PLAIN:
            return Rule.COMPLETED
        if p.mood is Mood.OFFER and (self._comes_after_clause() or ("then" in p.flags and self._has_earlier_act())):
            return Rule.FUTURE_STEP
        if p.mood is Mood.OFFER:
            return Rule.COMPLETED if p.is_perfect and p.flags & {"already"} else Rule.OFFER
        if "maybe" in p.flags:
            return Rule.OFFER
        if p.is_passive:
            return Rule.SUBJECT
        return self._of_circumstances()

    def _has_begun(self) -> bool:
        """ "I've been checking", "I'm still checking", "I'm texting you already", "I keep checking"."""
        p = self.p
        if p.form is not Form.GERUND:
            return p.is_progressive and bool(p.flags & {"still", "already"})
        if p.is_perfect or (p.mood is Mood.PLAIN and "still" in p.flags):
            return True
        is_already = "already" in p.flags or self.text(p.verb_at, p.end).endswith(" already ,")
        return p.is_progressive and (is_already or "still" in p.flags)

    def _of_circumstances(self) -> Rule | None:
        """Rule by context, for a predicate in a committing tense."""
        if self.is_invited():
            return Rule.OFFER
        if self.is_later_step():
            return Rule.FUTURE_STEP
        if self.has_condition() or self.asks_permission():
            return Rule.OFFER
        if self.is_deferred():
            return Rule.FUTURE_STEP
        p = self.p
        if p.mood is Mood.NEED:
            return None if self._is_immediate() else Rule.FUTURE_STEP
        if p.mood is Mood.PLAIN and p.form in (Form.BASE, Form.THIRD) and p.marker is not Marker.WHILE:
            if self.is_told_as_past():
                return Rule.COMPLETED
            return None if "now" in p.flags or "hereby" in self.text(0, p.verb_at) else Rule.OFFER
        return Rule.OFFER if "habit" in p.flags and p.mood is not Mood.COMMIT else None
