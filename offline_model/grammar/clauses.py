"""Clause parser: finds the predicates of a sentence, left to right."""

from __future__ import annotations

from collections.abc import Callable

from offline_model.grammar.consent import DAY_WORDS
from offline_model.grammar.lexicon import CONJUNCTIONS, DETERMINERS, LINK_NOUNS
from offline_model.grammar.predicate import Marker, Mood, Predicate, Subject
from offline_model.grammar.subjects import NOUN_LIKE_THIRD, SubjectReader
from offline_model.grammar.verb_group import VerbGroup, adverb_at, read_verb_group
from offline_model.grammar.verbs import NOUN_LIKE, Form, is_third, verb_of
from offline_model.grammar.words import Sentence
from offline_model.wordlist import words

IMPERATIVES = words(
    """
    hold stay wait bear hang relax give tell say share send let provide confirm reply choose pick call expect
    enjoy feel ask check see leave remind keep watch look find visit click type trust text message email have take
    allow use note stop remember consider imagine try contact book put cancel come go follow open
    """
)


INHERITED_FORMS = {Form.BASE: {Form.BASE}, Form.GERUND: {Form.GERUND}, Form.PAST: {Form.PAST}, Form.THIRD: {Form.THIRD}}


SEQUENCE = {"then", "afterwards", "also", "now", "immediately", "just"}


CLAUSE_OPENERS = {*CONJUNCTIONS, "if", "whether", "that", "what", "which", "when", "while", "how", "where"}
TOPIC_VERBS = words("is are was costs takes works requires needs means can may will has does")


OPENERS = words("going happy glad still able unable delighted not about ready more only")


MOMENT_WORDS = {"moment", "second", "minute", "sec", "seconds", "minutes", "bit", "instant"}


OBJECT_OPENERS = words(
    "what when which how that me availability for whether if on over back with details directions through"
)


def find_predicates(sentence: Sentence) -> list[Predicate]:
    """All predicates in order; each reaches to the start of the next one."""
    return _Reader(sentence).read()


class _Reader(SubjectReader):
    """Adds the clauses whose subject is unsaid or shared, and reads the whole sentence."""

    def read(self) -> list[Predicate]:
        patterns: tuple[Callable[[int], int], ...] = (
            self._boundary,
            self._let,
            self._permission_request,
            self._inversion,
            self._agent,
            self._other_subject,
            self._loose_auxiliary,
            self._noun_verb,
            self._opening_verb,
            self._infinitive,
            self._gerund_after_marker,
            self._coordinated,
        )
        i = 0
        while i < len(self.words):
            self.position = i
            step = next((size for pattern in patterns if (size := pattern(i))), 0)
            i += step or 1
        self._keep_verbless(len(self.words) + 1)
        self._set_ends()
        return self.found

    def _set_ends(self) -> None:
        for this, following in zip(self.found, self.found[1:], strict=False):
            this.end = max(following.start, this.verb_at + 1)
        if self.found:
            self.found[-1].end = len(self.words)

    def _opening_verb(self, i: int) -> int:
        """A clause that opens with its verb: a request, "Sending it now", "Booked!", "Happy to help"."""
        if i != self.clause_start:
            return 0
        known = verb_of(self.text(i))
        if known and known[1] is Form.BASE and self._shares_subject(i):
            return 0
        if self.text(i) == "do" and self.text(i + 1) == "not":
            group = read_verb_group(self.words, i + 2)
            return self._add(i, group, Subject.YOU) if group else 0
        if (known is None and self.text(i) not in OPENERS) or (known and known[1] is Form.THIRD):
            return 0
        group = read_verb_group(self.words, i)
        if group is None or (group.form is Form.GERUND and self._is_topic(i)):
            return 0
        return self._add_opening(i, group)

    def _is_topic(self, i: int) -> bool:
        """ "Checking in is possible from three": what is spoken of, and nothing that is done."""
        for at in range(i + 1, min(i + 8, len(self.words))):
            word = self.words[at]
            is_manner = word.text in ("while", "when") and self.text(at + 1).endswith("ing")
            if word.is_mark or (word.text in CLAUSE_OPENERS and not is_manner):
                return False
            if word.text in TOPIC_VERBS or (word.text not in NOUN_LIKE_THIRD and is_third(word.text)):
                return True
        return False

    def _add_opening(self, i: int, group: VerbGroup) -> int:
        if group.form is Form.BASE and group.verb_at == i:
            if self.text(i) not in IMPERATIVES or self.marker is not Marker.NONE:
                return 0
            group.mood = Mood.REQUEST
            return self._add(i, group, Subject.YOU)
        if (
            group.form is Form.PAST
            and self.marker is Marker.NONE
            and self.found
            and self.text(i - 1) in (*CONJUNCTIONS, ",")
        ):
            return 0
        return self._add(i, group, Subject.AGENT, is_progressive=group.form is Form.GERUND)

    def _shares_subject(self, i: int) -> bool:
        """True when an earlier "I will…" reaches on to a bare verb at `i` ("…, text you the details and book it")."""
        if not self.found:
            return False
        last = self.found[-1]
        return (
            last.form is Form.BASE
            and last.subject is Subject.AGENT
            and self.text(i - 1) in (*CONJUNCTIONS, ",", *SEQUENCE)
        )

    def _infinitive(self, i: int) -> int:
        """ "A moment to check", "I need your number to text you", "To book a table, I need…"."""
        if self.text(i) != "to":
            return 0
        group = read_verb_group(self.words, i + 1)
        if (
            group is None
            or group.form is not Form.BASE
            or verb_of(group.lemma) is None
            or self._is_noun_use(group.verb_at)
        ):
            return 0
        before = self.text(i - 1)
        is_opening = i == self.clause_start
        if not self.found and not is_opening and before not in MOMENT_WORDS:
            return 0
        needs = bool(self.found) and (
            self.found[-1].mood is Mood.NEED
            or self.found[-1].lemma in ("need", "require")
            or self.found[-1].is_question
        )
        is_out_of_reach = self._before(i, 2) in (["no", "way"], ["no", "chance"])
        if not is_opening and before in LINK_NOUNS and not needs and not is_out_of_reach:
            return 0
        group.is_negated |= is_out_of_reach
        self.marker = Marker.TO
        return self._add(i, group, Subject.AGENT, governor=len(self.found) - 1 if self.found else None)

    def _is_noun_use(self, i: int) -> bool:
        return self.text(i) in ("email", "text", "phone", "message") and not self._takes_object(i)

    def _gerund_after_marker(self, i: int) -> int:
        """ "Before booking", "without sending", "how about checking"."""
        if i != self.clause_start or self.marker is Marker.NONE or not self.text(i).endswith("ing"):
            return 0
        group = read_verb_group(self.words, i)
        return self._add(i, group, Subject.AGENT) if group else 0

    def _coordinated(self, i: int) -> int:
        """A bare verb that shares the subject and mood of the one before it."""
        known = verb_of(self.text(i))
        if not known or not self.found:
            return 0
        last = self.found[-1]
        if known[1] not in INHERITED_FORMS[last.form] or not self._is_joined(i):
            return 0
        if (self.text(i) in NOUN_LIKE and not self._takes_object(i)) or self._is_of_link(i):
            return 0
        shared = Predicate(
            start=i,
            verb_at=i,
            end=i,
            lemma=known[0],
            form=last.form,
            subject=last.subject,
            mood=last.mood,
            marker=last.marker,
            is_negated=last.is_negated and "or" in self._words_between(last.verb_at, i),
            is_perfect=last.is_perfect,
            is_past=last.is_past,
            is_progressive=last.is_progressive,
            is_passive=last.is_passive,
            is_question=last.is_question,
            is_new_clause=False,
            flags=(last.flags & {"still", "already", "maybe", "habit", "then", "later"}) | self._flags_before(i),
            governor=last.governor,
        )
        self.found.append(shared)
        return 1

    def _is_of_link(self, i: int) -> bool:
        """ "A link to cancel or change it": both verbs belong to the link."""
        before = self._before(i, 5)
        return any(word == "to" and before[at - 1] in LINK_NOUNS for at, word in enumerate(before) if at)

    def _is_joined(self, i: int) -> bool:
        j = i - 1
        while j >= 0 and (_is_adverb(self.text(j))):
            j -= 1
        return self.text(j) in ("and", "or", "then", "plus", ",", "but", "that", "/", "also", "&")

    def _flags_before(self, i: int) -> set[str]:
        flags = {"conj"}
        j = i - 1
        while j >= 0 and self.text(j) not in (",", "and") and i - j < 4:
            flags |= {"then"} if self.text(j) in ("then", "afterwards", "later") else set()
            j -= 1
        before = [self.text(k) for k in range(max(0, i - 4), i)]
        if before[-2:] == ["after", "that"] or "then" in before[-2:] or "afterwards" in before[-2:]:
            flags.add("then")
        return flags

    def _words_between(self, a: int, b: int) -> set[str]:
        return {word.text for word in self.words[a:b]}

    def _takes_object(self, i: int) -> bool:
        j = i + 1
        while j < len(self.words) and (found := adverb_at(self.words, j)):
            j += found[0]
        following = self.text(j)
        return following in DETERMINERS | OBJECT_OPENERS | DAY_WORDS or following[:1].isdigit()


def _is_adverb(text: str) -> bool:
    return text in SEQUENCE or text.endswith("ly") or text in ("please", "right", "away", "of", "course", "immediately")
