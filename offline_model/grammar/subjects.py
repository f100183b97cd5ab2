"""Clause patterns with an explicit subject."""

from __future__ import annotations

from offline_model.grammar.cursor import Cursor
from offline_model.grammar.lexicon import (
    AGENT_PRONOUNS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    DO,
    MODALS,
    OTHER_PRONOUNS,
)
from offline_model.grammar.predicate import Mood, Subject
from offline_model.grammar.verb_group import read_verb_group
from offline_model.grammar.verbs import FORMS, NOUN_LIKE, Form, verb_of
from offline_model.wordlist import words

WANTING = words(
    """
    like want prefer need love wish for ask asked tell told allow expect okay wanted asking remind
    """
)


HAVE_OR_DO = {"have", "has", "had", "do", "does", "did"}


PREPOSITIONS = words("to for with of from about on at by like")


ARTICLES = words("the our my their a an every each")
# Nouns spelled like a verb: "the text messages", "our offers".
NOUN_LIKE_THIRD = {spelling for spelling, (lemma, form) in FORMS.items() if form is Form.THIRD and lemma in NOUN_LIKE}


LOOKS = words("look check peek glance")
QUESTION_WORDS = words("what when which how where who")


class SubjectReader(Cursor):
    """Patterns of clauses that name their subject. Each returns how many words it used up, 0 for none."""

    def _let(self, i: int) -> int:
        """ "Let me check", "let's see", "allow me to look"; "let me know" is a request."""
        if self.text(i) not in ("let", "allow", "permit", "letting") or self.text(i + 1) not in ("me", "us"):
            return 0
        start = i + 3 if self.text(i + 2) == "to" else i + 2
        group = read_verb_group(self.words, start)
        if group is None or group.lemma == "know" or (group.lemma == "have" and not self._is_look(group.verb_at)):
            return 0
        asked = bool(self.found) and self.found[-1].is_question and i - self.found[-1].verb_at <= 1
        if group.mood is Mood.PLAIN:
            group.mood = Mood.OFFER if asked or self._follows_you(i) else Mood.COMMIT
        return self._add(i, group, Subject.AGENT)

    def _is_look(self, i: int) -> bool:
        """ "Have a quick look": as good as looking."""
        return any(word.text in LOOKS for word in self.words[i + 1 : i + 5])

    def _follows_you(self, i: int) -> bool:
        """ "Could you let me check": what is asked of the customer is no promise."""
        return self.text(i - 1) in ("you", "to")

    def _permission_request(self, i: int) -> int:
        """ "Would you like me to send", "want us to book"."""
        if self.text(i) not in ("me", "us") or self.text(i + 1) != "to" or self.text(i - 1) not in WANTING:
            return 0
        group = read_verb_group(self.words, i + 2)
        if group is None:
            return 0
        group.is_negated |= "no need" in " ".join(self._before(i, 5))
        reported = (
            bool(self.found) and self.found[-1].lemma in ("ask", "tell", "remind") and not self.found[-1].is_question
        )
        group.mood = Mood.OFFER
        return self._add(
            i, group, Subject.OTHER if reported else Subject.AGENT, is_question=not reported and not group.is_negated
        )

    def _inversion(self, i: int) -> int:
        """ "Shall I send", "Would you like", "May we book"."""
        if self.text(i) not in AUXILIARIES:
            return 0
        j = i + 1 + (self.text(i + 1) == "not")
        who = self.text(j)
        if who not in AGENT_PRONOUNS and who not in ("you", "it", "they", "that", "there"):
            return 0
        if not self._at_clause_start(i) and self.text(i - 1) not in (
            "what",
            "when",
            "where",
            "how",
            "which",
            "who",
            "why",
        ):
            return 0
        group = read_verb_group(self.words, j + 1)
        if group is None:
            return 0
        if self.text(i) in MODALS or self.text(i) in DO - {"did"}:
            group.mood = Mood.OFFER
        subject = Subject.AGENT if who in AGENT_PRONOUNS else Subject.YOU if who == "you" else Subject.OTHER
        return self._add(i, group, subject, is_question=True)

    def _agent(self, i: int) -> int:
        size = self._agent_size(i)
        group = read_verb_group(self.words, i + size) if size else None
        if group and self._before(i, 2)[-1:] in (["nobody"], ["nothing"]):
            group.is_negated = True
        return self._add(i, group, Subject.AGENT) if group else 0

    def _other_subject(self, i: int) -> int:
        text = self.text(i)
        if text != "you" and text not in OTHER_PRONOUNS and text not in ("that", "this", "there"):
            return 0
        if self._is_object(i):
            return 0
        group = read_verb_group(self.words, i + 1)
        if group is None or (text in ("that", "this", "there") and not group.has_auxiliary):
            return 0
        if (
            text == "that"
            and self.found
            and self.found[-1].lemma in ("say", "tell", "mention")
            and not group.has_auxiliary
        ):
            return 0
        return self._add(i, group, Subject.YOU if text == "you" else Subject.OTHER)

    def _is_object(self, i: int) -> bool:
        """ "Text you", "for it": a pronoun right after a verb or preposition, with no auxiliary behind it."""
        before = self.text(i - 1)
        if self.text(i + 1) in AUXILIARIES and self.text(i + 1) not in HAVE_OR_DO:
            return False
        return before in PREPOSITIONS or (bool(self.found) and self.found[-1].verb_at == i - 1 and not self._says())

    def _says(self) -> bool:
        return self.found[-1].lemma in ("say", "think", "see", "hope", "know", "ensure", "believe", "make")

    def _loose_auxiliary(self, i: int) -> int:
        """An auxiliary without a pronoun before it: a noun's ("the text will follow"), a shared subject's, or an unsaid "I"."""
        if self.text(i) not in AUXILIARIES or (
            (self.text(i) in ("have", "do", "be", "has", "had", "been", "being")) and not self._noun_before(i)
        ):
            return 0
        group = read_verb_group(self.words, i)
        if group is None:
            return 0
        if self._at_clause_start(i):
            shared = (
                self.found[-1].subject if self.found and self.text(i - 1) in (*CONJUNCTIONS, ",") else Subject.AGENT
            )
            return self._add(i, group, shared, is_new_clause=False)
        return self._add(self._noun_start(i), group, Subject.OTHER)

    def _noun_start(self, i: int) -> int:
        """Start of the noun phrase before the verb at `i`."""
        earliest = self.found[-1].verb_at + 1 if self.found else 0
        if earliest <= self.clause_start:
            return self.clause_start
        openers = [j for j in range(earliest, i) if self.text(j) in DETERMINERS or self.text(j) in QUESTION_WORDS]
        asked = [j for j in openers if self.text(j) in QUESTION_WORDS]
        return (asked or openers or [earliest])[-1]

    def _noun_verb(self, i: int) -> int:
        """A noun's verb without an auxiliary: "the courier texts you"."""
        known = verb_of(self.text(i))
        if (
            not known
            or known[1] is not Form.THIRD
            or i == self.clause_start
            or not (self.text(i + 1) in DETERMINERS | {"availability", "everyone"} or self._is_plain_noun_before(i))
        ):
            return 0
        if self.text(i - 1) in DETERMINERS or self.text(i - 1) in CONJUNCTIONS:
            return 0
        group = read_verb_group(self.words, i)
        return self._add(self.clause_start, group, Subject.OTHER) if group else 0

    def _is_plain_noun_before(self, i: int) -> bool:
        """ "The system cancels unpaid bookings": a clause that opens with an article and its noun."""
        opens = self.text(self.clause_start) in ARTICLES and self.text(i) not in NOUN_LIKE_THIRD
        return opens and 2 <= i - self.clause_start <= 3

    def _noun_before(self, i: int) -> bool:
        return (
            i > self.clause_start
            and self.text(i) in ("has", "have", "had")
            and self.text(i - 1) not in AUXILIARIES | {"to"}
        )
