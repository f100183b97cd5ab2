"""Permission questions and deferred promises."""

from __future__ import annotations

import re

from offline_model.grammar.adverbials import Adverbials
from offline_model.grammar.predicate import Predicate, Subject
from offline_model.wordlist import words

TAGS = (
    "okay",
    "all right",
    "alright",
    "right",
    "yes",
    "deal",
    "does that",
    "is that",
    "sound",
    "sounds",
    "would that",
    "if that",
    "is it okay",
    "will that",
    "agreed",
    "good",
    "shall i",
    "should i",
    "fine",
    "are you okay",
    "do you agree",
    "can i",
    "may i",
)


DELIVERING = words(
    """
    send text message email forward share mail transfer call notify sms drop pop shoot connect
    """
)


DAY_WORDS = words("tomorrow tonight monday tuesday wednesday thursday friday saturday sunday")


LATER = (
    "next week",
    "next month",
    "this evening",
    "this afternoon",
    "in an hour",
    "in a few hours",
    "in a few days",
    "in the morning",
    "in the evening",
    "later",
    "at the end of",
    "the day before",
    "hour before",
    "hours before",
    "minutes before",
    "days before",
    "week before",
    "in advance",
    "beforehand",
    "ahead of your",
    "on the morning",
    "the morning of",
    "the day of",
    "the night before",
    "on the day",
    "afterwards",
    "after the call",
    "after our call",
    "nearer the time",
    "closer to",
)


# Deferral for any verb; a plain day defers nothing ("cancel your table next week").
PUT_OFF = re.compile(
    r"\b(?:at the end of the|in an hour|in a few (?:hours|days)|(?<!right )after (?:the|our|this) call)\b"
    r"|\b(?:again|back) (?:tomorrow|later|next|on \w+day)\b"
)
DAY_FIRST = re.compile(
    r"(?:(?:by|on|this|next|come|first thing) )?(?:tomorrow|tonight|\w+day(?<!today)(?:s)?|next (?:week|month))\b"
)


CONSENT = (
    "is that okay",
    "is that all right",
    "is that alright",
    "is that fine",
    "does that work",
    "does that sound",
    "sound good",
    "would that be",
    "shall i",
    "should i",
    "is this okay",
    "okay with you",
    "will that work",
    "would that work",
    "do you agree",
    "okay",
    "all right",
    "are you happy with",
    "may i go ahead",
    "can i go ahead",
    "would that suit",
    "does this work",
    "would you like me to",
    "do you want me to",
)


class Consent(Adverbials):
    """Checks for permission questions and deferral."""

    def asks_permission(self) -> bool:
        """The sentence, or the next one, asks whether that's all right."""
        if self.part.sentence.is_question:
            last = self.part.predicates[-1]
            tail = self.text(self._last_mark() + 1, len(self.words))
            is_restated = ":" in self.text(self.p.verb_at, len(self.words)).split()
            if last is self.p or any(tail.startswith(tag) for tag in TAGS):
                if is_restated and tail == "right":
                    return False
                return not (self.part.predicates[-1] is not self.p and last.is_question and last.subject is Subject.YOU)
            if not last.is_question and self._wh_tail(tail):
                return False
        following = self.parts[self.part.index + 1] if self.part.index + 1 < len(self.parts) else None
        if following is None or not following.sentence.is_question:
            return False
        return _asks_consent(following.sentence.text) and not self._asks_for_more(following.predicates)

    def _asks_for_more(self, asked: list[Predicate]) -> bool:
        """ "I'll look it up. Shall I cancel it?": leave is asked for something else."""
        deeds = {p.lemma for p in asked if p.subject is Subject.AGENT and p.lemma}
        return bool(deeds) and not deeds & {self.p.lemma, "go", "do", "proceed", "be"}

    @staticmethod
    def _wh_tail(tail: str) -> bool:
        return tail.split(" ")[0] in ("what", "when", "where", "how", "which", "who", "and")

    def is_deferred(self) -> bool:
        """ "I'll text you tomorrow": not now. A day that is the object ("check tomorrow") defers nothing."""
        following = self.text(self.p.verb_at + 1, self.p.end)
        if PUT_OFF.search(following):
            return True
        if self.p.lemma not in DELIVERING and self.p.lemma not in ("give", "get", "let", "ring", "phone"):
            return False
        rest = [word.text for word in self.words[self.p.verb_at + 1 : self.p.end]]
        before = self.text(0, self.p.verb_at) if self.at == 0 else ""
        text = f"{before} {' '.join(rest)}"
        if any(phrase in text for phrase in LATER) or DAY_FIRST.match(before):
            return True
        return any(
            word in DAY_WORDS
            and (rest[i - 1] if i else "") not in ("until", "from", "at", "the", "is", "your")
            and not {"for", "about", "to", "of"} & set(rest[:i])
            for i, word in enumerate(rest)
        )

    def _is_immediate(self) -> bool:
        text = self.text(0, len(self.words))
        following = self.parts[self.part.index + 1].sentence.text if self.part.index + 1 < len(self.parts) else ""
        near = f"{text} {following[:40]}"
        return "now" in self.p.flags or any(
            phrase in near for phrase in ("moment", "second", "quickly", " now", "hold on", "bear with", "minute")
        )


def _asks_consent(question: str) -> bool:
    return any(question == tag or question.startswith((tag + " ", tag)) for tag in CONSENT)
