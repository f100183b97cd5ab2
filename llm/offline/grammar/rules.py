"""Judges a predicate: a commitment of this moment, or the rule by which it is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from llm.offline.grammar.clauses import find_predicates
from llm.offline.grammar.lexicon import INFO_REQUESTS, MOMENTS, WAITING
from llm.offline.grammar.predicate import Marker, Mood, Predicate, Subject
from llm.offline.grammar.verbs import SPEECH, Form, verb_of
from llm.offline.grammar.words import Sentence, read_sentences


class Rule(StrEnum):
    """Why words about a tool are no commitment; the names are those of the detection prompt."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FUTURE_STEP = "future_step"
    OFFER = "offer"
    SUBJECT = "subject"
    NEGATION = "negation"
    QUOTATION = "quotation"


CHECKING = {"check", "see", "look", "find", "ask", "verify", "confirm", "know", "search", "tell", "inquire", "enquire", "review", "consult", "double-check"}
TAGS = ("okay", "all right", "alright", "right", "yes", "deal", "does that", "is that", "sound", "sounds", "would that", "if that", "is it okay", "will that", "agreed", "good", "shall i", "should i", "fine", "are you okay", "do you agree", "can i", "may i")
DELIVERING = {"send", "text", "message", "email", "forward", "share", "mail", "transfer", "call", "notify", "sms", "drop", "pop", "shoot", "connect"}
DAY_WORDS = {"tomorrow", "tonight", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
LATER = ("next week", "next month", "this evening", "this afternoon", "in an hour", "in a few hours", "in a few days", "in the morning", "in the evening", "later", "at the end of", "the day before", "the night before", "on the day", "afterwards", "after the call", "after our call", "nearer the time", "closer to")
AFTER_NOUNS = ("upon your", "upon confirmation", "after your", "after the payment", "after payment", "after confirmation", "on receipt", "once confirmed", "once done", "after our", "after this", "once that", "upon receipt", "following your")


@dataclass(frozen=True)
class Reading:
    """One predicate with its place and its rule; `rule` None means that the agent commits to it now."""

    sentence: Sentence
    index: int
    predicate: Predicate
    rule: Rule | None


@dataclass(frozen=True)
class Clauses:
    """One sentence of the answer with its predicates and its neighbours."""

    sentence: Sentence
    predicates: list[Predicate]
    index: int


def read_answer(text: str) -> list[Reading]:
    """Every predicate of the answer, judged in the light of the sentences around it."""
    parts = [Clauses(s, find_predicates(s), i) for i, s in enumerate(read_sentences(text))]
    return [
        Reading(part.sentence, part.index, predicate, _Judge(parts, part, at).rule())
        for part in parts
        for at, predicate in enumerate(part.predicates)
    ]


class _Judge:
    """Applies the rules to one predicate, the most telling first."""

    def __init__(self, parts: list[Clauses], part: Clauses, at: int) -> None:
        self.parts = parts
        self.part = part
        self.at = at
        self.p = part.predicates[at]
        self.words = part.sentence.words

    def rule(self) -> Rule | None:
        if self.is_quotation():
            return Rule.QUOTATION
        if self.p.is_negated and not self.is_suggestion():
            return Rule.NEGATION
        if self.p.subject is not Subject.AGENT:
            return self._of_others()
        if self.p.marker not in (Marker.NONE, Marker.TO):
            rule = self._of_subordinate()
            return rule
        if self.p.marker is Marker.TO:
            return self._of_infinitive()
        return self._of_agent()

    # Quotation

    def is_quotation(self) -> bool:
        if self.words[self.p.verb_at].is_quoted:
            return True
        before = self.text(0, self.p.start)
        own = self.text(self.p.start, self.p.verb_at)
        if any(phrase in f"{before} {own} " for phrase in ("for example ", "for instance ", "as you said ", "as you put it ", "you said ", "e.g. ", "you wrote ")):
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

    # Somebody else's deed

    def _of_others(self) -> Rule | None:
        if self._is_made_sure():
            governor = self.part.predicates[self.at - 1]
            return _Judge(self.parts, self.part, self.part.predicates.index(governor)).rule()
        if self.p.is_passive or self.p.is_perfect:
            return self._of_passive()
        is_wish = self.p.lemma in ("like", "want", "prefer", "need", "love") and self.p.subject is Subject.YOU
        if is_wish and (self.p.is_question or self.p.marker is Marker.IF):
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
        return governor.lemma == "ensure" or governor.lemma == "guarantee" or "make sure" in between or "see to it" in between

    def _of_passive(self) -> Rule:
        if self.p.is_progressive or "being" in self.text(self.p.start, self.p.verb_at).split():
            return Rule.IN_PROGRESS
        if self.p.mood is Mood.PLAIN and self.p.marker is Marker.NONE:
            return Rule.COMPLETED
        return Rule.SUBJECT

    # The agent's own

    def _of_subordinate(self) -> Rule | None:
        match self.p.marker:
            case Marker.IF | Marker.HOW_ABOUT:
                return Rule.OFFER
            case Marker.AFTER | Marker.BEFORE:
                return Rule.FUTURE_STEP
            case Marker.SO_THAT:
                return self._of_agent() if self.p.mood is Mood.COMMIT else Rule.FUTURE_STEP
            case Marker.WITHOUT:
                return Rule.NEGATION
            case Marker.WHILE:
                return self._of_while()
            case _:
                return self._of_agent()

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
        if governor.subject is Subject.AGENT and governor.lemma in ("ask", "tell", "request", "get", "have", "instruct", "remind"):
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
        if p.is_perfect and p.form is Form.GERUND:
            return Rule.IN_PROGRESS
        if p.is_progressive and ("still" in p.flags or "already" in p.flags):
            return Rule.IN_PROGRESS
        if (p.is_perfect or p.is_past or (p.form is Form.PAST and not p.is_passive)) and p.mood is not Mood.OFFER:
            return Rule.COMPLETED
        if p.mood is Mood.OFFER:
            return Rule.COMPLETED if p.is_perfect and p.flags & {"already"} else Rule.OFFER
        if "maybe" in p.flags:
            return Rule.OFFER
        if p.is_passive:
            return Rule.SUBJECT
        return self._of_circumstances()

    def _of_circumstances(self) -> Rule | None:
        """The tense is right; what stands around it may still make it an offer or a later step."""
        if self.is_later_step():
            return Rule.FUTURE_STEP
        if self.has_condition() or self.asks_leave():
            return Rule.OFFER
        if self.is_deferred():
            return Rule.FUTURE_STEP
        p = self.p
        if p.mood is Mood.NEED:
            return None if self._is_immediate() else Rule.FUTURE_STEP
        if p.mood is Mood.PLAIN and p.form in (Form.BASE, Form.THIRD) and p.marker is not Marker.WHILE:
            return None if "now" in p.flags or "hereby" in self.text(0, p.verb_at) else Rule.OFFER
        return Rule.OFFER if "habit" in p.flags and p.mood is not Mood.COMMIT else None

    def is_later_step(self) -> bool:
        p = self.p
        if "then" in p.flags and self._has_earlier_act():
            return True
        if "later" in p.flags:
            return True
        if self._comes_after_clause() or self._comes_after_request():
            return True
        rest = self.text(0, len(self.words))
        return any(phrase in rest for phrase in AFTER_NOUNS)

    def _has_earlier_act(self) -> bool:
        """True when an earlier clause, here or a sentence before, is an act that this one follows."""
        earlier = self.part.predicates[: self.at]
        if any(one.marker is not Marker.IF for one in earlier):
            return True
        previous = [p for part in self.parts[: self.part.index] for p in part.predicates]
        return any(one.subject is Subject.AGENT or one.is_question or one.mood is Mood.REQUEST for one in previous)

    def _comes_after_clause(self) -> bool:
        """A clause with once, when or as soon as governs this one."""
        for at, other in enumerate(self.part.predicates):
            if other.marker is not Marker.AFTER or other is self.p or other.is_question:
                continue
            opener = self.words[other.start].text
            if opener in ("until", "till") or (opener == "when" and self._is_complement(at)):
                continue
            if self._governs(at):
                return True
        return False

    def _is_complement(self, at: int) -> bool:
        """ "Check if there is a table": what is checked, no condition."""
        if not at:
            return False
        owner = self.part.predicates[at - 1]
        between = self.words[owner.verb_at : self.part.predicates[at].start]
        is_near = not any(word.text in (",", ";", "—", "–") for word in between)
        joined = between and between[-1].text == "and"
        return is_near and owner.lemma in CHECKING | {"have", "take", "do", "run", "make"} and not joined and owner.subject is not Subject.YOU

    def _governs(self, at: int) -> bool:
        """True when the subordinate clause `at` belongs to this predicate: the main clause after it, or the one before."""
        following = [i for i, p in enumerate(self.part.predicates) if i > at and p.marker in (Marker.NONE, Marker.WHILE)]
        start = self.part.predicates[at].start
        opens = start == 0 or self.words[start - 1].text in ("and", "but", "so", ";", ":", "—", "–", ",") and self._comma_after(at)
        is_fronted = bool(following) and (opens or not self._mains_before(at))
        if is_fronted:
            first = following[0]
            return self.at >= first and self._same_chain(first)
        before = self._mains_before(at)
        return bool(before) and self.at in self._chain_back(before[-1])

    def _mains_before(self, at: int) -> list[int]:
        return [i for i, p in enumerate(self.part.predicates[:at]) if p.marker in (Marker.NONE, Marker.WHILE)]

    def _comma_after(self, at: int) -> bool:
        """True when a comma parts the clause `at` from a full main clause behind it."""
        predicates = self.part.predicates
        if at + 1 >= len(predicates):
            return False
        span = [word.text for word in self.words[predicates[at].start : predicates[at + 1].verb_at]]
        return "," in span

    def _same_chain(self, first: int) -> bool:
        return all(not p.is_new_clause or i == first for i, p in enumerate(self.part.predicates) if first <= i <= self.at) or self.at - first <= 1

    def _chain_back(self, last: int) -> set[int]:
        """The predicate and those before it that share its subject: "I'll book it and text you, if you like"."""
        chain = {last}
        while last > 0 and not self.part.predicates[last].is_new_clause:
            last -= 1
            chain.add(last)
        return chain

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

    def _joined_to_previous(self) -> bool:
        between = [word.text for word in self.words[max(0, self.p.start - 3) : self.p.start + 1]]
        return any(word in ("and", "so", "then") for word in between) or "then" in self.p.flags

    def _is_moment(self, before: Predicate) -> bool:
        span = {word.text for word in self.words[before.verb_at : before.end]}
        return before.lemma in WAITING and bool(span & MOMENTS or "line" in span)

    def has_condition(self) -> bool:
        if "if" in self.p.flags:
            return True
        for at, other in enumerate(self.part.predicates):
            if other.marker is Marker.IF and other is not self.p and not self._is_complement(at) and self._governs(at):
                return True
        text = f" {self.text(0, len(self.words))} "
        if any(p in text for p in (" just say ", " say the word ", " say yes ", " if you like ", " if you wish ", " if so ", " otherwise ", " if needed ", " if necessary ", " if possible ", " unless ")):
            return not any(text.startswith(f" {mark}") for mark in ("just say hello",)) and not self._condition_elsewhere()
        return False

    def _condition_elsewhere(self) -> bool:
        """True when the words above belong to a clause that has been weighed already."""
        return any(p.marker is Marker.IF for p in self.part.predicates)

    def asks_leave(self) -> bool:
        """The sentence, or the next one, asks whether that's all right."""
        if self.part.sentence.is_question:
            last = self.part.predicates[-1]
            tail = self.text(self._last_mark() + 1, len(self.words))
            if last is self.p or any(tail.startswith(tag) for tag in TAGS):
                return not (self.part.predicates[-1] is not self.p and last.is_question and last.subject is Subject.YOU)
            if not last.is_question and self._wh_tail(tail):
                return False
        following = self.parts[self.part.index + 1] if self.part.index + 1 < len(self.parts) else None
        if following is None or not following.sentence.is_question:
            return False
        return _asks_consent(following.sentence.text)

    @staticmethod
    def _wh_tail(tail: str) -> bool:
        return tail.split(" ")[0] in ("what", "when", "where", "how", "which", "who", "and")

    def _last_mark(self) -> int:
        marks = [i for i, word in enumerate(self.words) if word.text in (",", ";", "—", "–", "-", ":")]
        return marks[-1] if marks else -1

    def is_deferred(self) -> bool:
        """ "I'll text you tomorrow": not now. A day that is the object ("check tomorrow") defers nothing."""
        if self.p.lemma not in DELIVERING and self.p.lemma not in ("give", "get", "let", "ring", "phone"):
            return False
        rest = [word.text for word in self.words[self.p.verb_at + 1 : self.p.end]]
        text = " ".join(rest)
        if any(phrase in text for phrase in LATER):
            return True
        return any(
            word in DAY_WORDS and (rest[i - 1] if i else "") not in ("for", "about", "of", "until", "from", "at", "the", "is", "your", "to")
            and not {"for", "about", "to"} & set(rest[max(0, i - 3) : i])
            for i, word in enumerate(rest)
        )  # fmt: skip

    def _is_immediate(self) -> bool:
        text = self.text(0, len(self.words))
        following = self.parts[self.part.index + 1].sentence.text if self.part.index + 1 < len(self.parts) else ""
        near = f"{text} {following[:40]}"
        return "now" in self.p.flags or any(phrase in near for phrase in ("moment", "second", "quickly", " now", "hold on", "bear with", "minute"))

    def text(self, a: int, b: int) -> str:
        return " ".join(word.text for word in self.words[a:b])


NEEDING = {"ask", "know", "have", "take", "get", "confirm", "note", "check"}
CONSENT = ("is that okay", "is that all right", "is that alright", "is that fine", "does that work", "does that sound", "sound good", "would that be", "shall i", "should i", "is this okay", "okay with you", "will that work", "would that work", "do you agree", "okay", "all right", "are you happy with", "may i go ahead", "can i go ahead", "would that suit", "does this work", "would you like me to", "do you want me to")


def _asks_consent(question: str) -> bool:
    return any(question == tag or question.startswith(tag + " ") or question.startswith(tag) for tag in CONSENT)
