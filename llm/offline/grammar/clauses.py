"""Finds the predicates of a sentence, from left to right."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llm.offline.grammar.group import Group, adverb_at, read_group
from llm.offline.grammar.lexicon import (
    AGENT_PRONOUNS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    DO,
    INTRODUCTIONS,
    LINK_NOUNS,
    MODALS,
    OTHER_PRONOUNS,
    TEAM,
)
from llm.offline.grammar.predicate import Marker, Mood, Predicate, Subject
from llm.offline.grammar.verbs import NOUN_LIKE, Form, verb_of
from llm.offline.grammar.words import Sentence, Word

MARKERS: dict[tuple[str, ...], Marker] = {
    ("if",): Marker.IF, ("unless",): Marker.IF, ("provided",): Marker.IF, ("assuming",): Marker.IF,
    ("in", "case"): Marker.IF, ("as", "long", "as"): Marker.IF, ("whenever",): Marker.IF, ("whether",): Marker.IF,
    ("should", "you"): Marker.IF, ("once",): Marker.AFTER, ("when",): Marker.AFTER, ("after",): Marker.AFTER,
    ("until",): Marker.AFTER, ("till",): Marker.AFTER, ("as", "soon", "as"): Marker.AFTER, ("the", "moment"): Marker.AFTER,
    ("before",): Marker.BEFORE, ("while",): Marker.WHILE, ("as",): Marker.WHILE, ("so", "that"): Marker.SO_THAT,
    ("so",): Marker.SO_THAT, ("because",): Marker.REASON, ("since",): Marker.REASON, ("which",): Marker.RELATIVE,
    ("without",): Marker.WITHOUT, ("instead", "of"): Marker.WITHOUT, ("rather", "than"): Marker.WITHOUT,
    ("how", "about"): Marker.HOW_ABOUT, ("what", "about"): Marker.HOW_ABOUT, ("what", "if"): Marker.HOW_ABOUT,
    ("why", "not"): Marker.HOW_ABOUT, ("why", "do", "not"): Marker.HOW_ABOUT, ("by",): Marker.TO, ("for",): Marker.RELATIVE,
}  # fmt: skip
LONGEST_MARKER = 3
WANTING = {"like", "want", "prefer", "need", "love", "wish", "for", "ask", "asked", "tell", "told", "allow", "expect", "okay", "wanted", "asking", "remind"}
IMPERATIVES = {
    "hold", "stay", "wait", "bear", "hang", "relax", "give", "tell", "say", "share", "send", "let", "provide", "confirm",
    "reply", "choose", "pick", "call", "expect", "enjoy", "feel", "ask", "check", "see", "leave", "remind", "keep", "watch",
    "look", "find", "visit", "click", "type", "trust", "text", "message", "email", "have", "take", "allow", "use", "note", "stop",
    "remember", "consider", "imagine", "try", "contact", "book", "put", "cancel", "come", "go", "follow", "open",
}  # fmt: skip
INHERITED_FORMS = {Form.BASE: {Form.BASE}, Form.GERUND: {Form.GERUND}, Form.PAST: {Form.PAST}, Form.THIRD: {Form.THIRD}}


def find_predicates(sentence: Sentence) -> list[Predicate]:
    """All predicates in order; each reaches to the start of the next one."""
    return _Reader(sentence).read()


class _Reader:
    def __init__(self, sentence: Sentence) -> None:
        self.words: Sequence[Word] = sentence.words
        self.found: list[Predicate] = []
        self.marker = Marker.NONE
        self.marker_at = -1
        self.flags: set[str] = set()
        self.clause_start = 0

    def read(self) -> list[Predicate]:
        patterns: tuple[Callable[[int], int], ...] = (
            self._boundary, self._let, self._ask_for_agent, self._inversion, self._agent, self._other_subject,
            self._loose_auxiliary, self._opening_verb, self._infinitive, self._gerund_after_marker, self._coordinated,
        )  # fmt: skip
        i = 0
        while i < len(self.words):
            step = next((size for pattern in patterns if (size := pattern(i))), 0)
            i += step or 1
        self._set_ends()
        return self.found

    def _set_ends(self) -> None:
        for this, following in zip(self.found, self.found[1:], strict=False):
            this.end = max(following.start, this.verb_at + 1)
        if self.found:
            self.found[-1].end = len(self.words)

    def text(self, i: int) -> str:
        return self.words[i].text if 0 <= i < len(self.words) else ""

    # Boundaries: marks, conjunctions, subordinators and adverbs between clauses.

    def _boundary(self, i: int) -> int:
        if self.words[i].is_mark:
            self._open_clause(i + 1)
            return 1
        if i == self.clause_start:
            return self._opening(i)
        marker_size = self._marker_size(i)
        if marker_size:
            self._open_clause(i)
            return self._opening(i)
        return 0

    def _open_clause(self, i: int) -> None:
        self.clause_start = i
        self.marker, self.marker_at = Marker.NONE, -1
        self.flags = set()

    def _opening(self, i: int) -> int:
        """Consume what may stand before a clause's subject: "Sure", "and then", "once", "quickly"."""
        text = self.text(i)
        size = self._marker_size(i)
        if size:
            self.marker = MARKERS[tuple(w.text for w in self.words[i : i + size])]
            self.marker_at = i
            if text == "should":
                size = 1
        elif (found := adverb_at(self.words, i)) and not (text == "right" and i + 1 < len(self.words)):
            size, flag = found
            if flag == "if":
                self.flags.add("if")
            elif flag:
                self.flags.add(flag)
        elif text in CONJUNCTIONS or text in INTRODUCTIONS:
            size = 1
        if size:
            self.clause_start = i + size
        return size

    def _marker_size(self, i: int) -> int:
        for size in range(LONGEST_MARKER, 0, -1):
            key = tuple(word.text for word in self.words[i : i + size])
            if len(key) == size and key in MARKERS and self._marker_opens(key, i + size):
                return size
        return 0

    def _marker_opens(self, key: tuple[str, ...], i: int) -> bool:
        """True when a clause follows: "after you call", not "after seven"."""
        if key in (("as",), ("for",), ("since",), ("by",), ("the", "moment"), ("so",)) and not self._clause_follows(i):
            return False
        if key in (("for",), ("which",)):
            return False
        if key == ("should", "you"):
            return self.clause_start >= i - 2
        if MARKERS[key] in (Marker.AFTER, Marker.BEFORE, Marker.WHILE):
            return self._clause_follows(i) or self.text(i).endswith("ing") or self.text(i) in ("confirmed", "done", "ready")
        return True

    def _clause_follows(self, i: int) -> bool:
        j = i
        while j < len(self.words) and (found := adverb_at(self.words, j)):
            j += found[0]
        ahead = [word.text for word in self.words[j : j + 6]]
        if not ahead:
            return False
        if ahead[0] in AGENT_PRONOUNS or ahead[0] in ("you", "they", "he", "she"):
            return True
        return any(text in AUXILIARIES or (k and self._is_finite(text)) for k, text in enumerate(ahead))

    @staticmethod
    def _is_finite(text: str) -> bool:
        known = verb_of(text)
        return known is not None and known[1] in (Form.THIRD, Form.PAST) and text not in NOUN_LIKE

    # Patterns, one kind of clause each. Every one returns how many words it used up, 0 for none.

    def _let(self, i: int) -> int:
        """ "Let me check", "let's see", "allow me to look"; "let me know" is a request."""
        if self.text(i) not in ("let", "allow", "permit", "letting") or self.text(i + 1) not in ("me", "us"):
            return 0
        start = i + 3 if self.text(i + 2) == "to" else i + 2
        group = read_group(self.words, start)
        if group is None or group.lemma in ("know", "have"):
            return 0
        asked = bool(self.found) and self.found[-1].is_question and i - self.found[-1].verb_at <= 1
        if group.mood is Mood.PLAIN:
            group.mood = Mood.OFFER if asked or self._follows_you(i) else Mood.COMMIT
        return self._add(i, group, Subject.AGENT)

    def _follows_you(self, i: int) -> bool:
        """ "Could you let me check": what is asked of the customer is no promise."""
        return self.text(i - 1) in ("you", "to")

    def _ask_for_agent(self, i: int) -> int:
        """ "Would you like me to send", "want us to book"."""
        if self.text(i) not in ("me", "us") or self.text(i + 1) != "to" or self.text(i - 1) not in WANTING:
            return 0
        group = read_group(self.words, i + 2)
        if group is None:
            return 0
        reported = bool(self.found) and self.found[-1].lemma in ("ask", "tell", "remind") and not self.found[-1].is_question
        group.mood = Mood.OFFER
        return self._add(i, group, Subject.OTHER if reported else Subject.AGENT, is_question=not reported)

    def _inversion(self, i: int) -> int:
        """ "Shall I send", "Would you like", "May we book"."""
        if self.text(i) not in AUXILIARIES:
            return 0
        j = i + 1 + (self.text(i + 1) == "not")
        who = self.text(j)
        if who not in AGENT_PRONOUNS and who not in ("you", "it", "they", "that", "there"):
            return 0
        if not self._at_clause_start(i) and self.text(i - 1) not in ("what", "when", "where", "how", "which", "who", "why"):
            return 0
        group = read_group(self.words, j + 1)
        if group is None:
            return 0
        if self.text(i) in MODALS or self.text(i) in DO:
            group.mood = Mood.OFFER
        subject = Subject.AGENT if who in AGENT_PRONOUNS else Subject.YOU if who == "you" else Subject.OTHER
        return self._add(i, group, subject, is_question=True)

    def _at_clause_start(self, i: int) -> bool:
        return i == self.clause_start or self.text(i - 1) in CONJUNCTIONS

    def _agent(self, i: int) -> int:
        size = self._agent_size(i)
        group = read_group(self.words, i + size) if size else None
        return self._add(i, group, Subject.AGENT) if group else 0

    def _agent_size(self, i: int) -> int:
        """How many words name the agent's side at `i`: "we", "our team", "one of us"."""
        if self.text(i) in AGENT_PRONOUNS:
            return 1
        if self.text(i) in ("our", "the") and self.text(i + 1) in TEAM:
            return 2
        if self.text(i) in ("our", "the") and self.text(i + 2) in TEAM and self.text(i + 1) not in AUXILIARIES:
            return 3
        words = [word.text for word in self.words[i : i + 4]]
        if words[:1] and words[0] in ("someone", "somebody", "one", "member") and len(words) > 2 and words[1] in ("from", "on", "of"):
            if words[2] == "us":
                return 3
            if words[2] in ("our", "the") and words[3:4] and words[3] in TEAM:
                return 4
        return 0

    def _other_subject(self, i: int) -> int:
        text = self.text(i)
        if text != "you" and text not in OTHER_PRONOUNS and text not in ("that", "this", "there"):
            return 0
        if self._is_object(i):
            return 0
        group = read_group(self.words, i + 1)
        if group is None or (text in ("that", "this", "there") and not group.has_auxiliary):
            return 0
        if text == "that" and self.found and self.found[-1].lemma in ("say", "tell", "mention") and not group.has_auxiliary:
            return 0
        return self._add(i, group, Subject.YOU if text == "you" else Subject.OTHER)

    def _is_object(self, i: int) -> bool:
        """ "Text you", "for it": a pronoun right after a verb or preposition, with no auxiliary behind it."""
        before = self.text(i - 1)
        if self.text(i + 1) in AUXILIARIES and self.text(i + 1) not in HAVE_OR_DO:
            return False
        return before in PREPOSITIONS or bool(self.found) and self.found[-1].verb_at == i - 1 and not self._says()

    def _says(self) -> bool:
        return self.found[-1].lemma in ("say", "think", "see", "hope", "know", "ensure", "believe", "make")

    def _loose_auxiliary(self, i: int) -> int:
        """An auxiliary without a pronoun before it: a noun's ("the text will follow"), a shared subject's, or an unsaid "I"."""
        if self.text(i) not in AUXILIARIES or (self.text(i) in ("have", "do", "be", "has", "had", "been", "being")) and not self._noun_before(i):
            return 0
        group = read_group(self.words, i)
        if group is None:
            return 0
        if self._at_clause_start(i):
            shared = self.found[-1].subject if self.found and self.text(i - 1) in (*CONJUNCTIONS, ",") else Subject.AGENT
            return self._add(i, group, shared, is_new_clause=False)
        return self._add(self.clause_start, group, Subject.OTHER)

    def _noun_before(self, i: int) -> bool:
        return i > self.clause_start and self.text(i) in ("has", "have", "had") and self.text(i - 1) not in AUXILIARIES | {"to"}

    def _opening_verb(self, i: int) -> int:
        """A clause that opens with its verb: a request, "Sending it now", "Booked!", "Happy to help"."""
        if i != self.clause_start:
            return 0
        known = verb_of(self.text(i))
        if known and known[1] is Form.BASE and self._shares_subject(i):
            return 0
        if self.text(i) in ("do",) and self.text(i + 1) == "not":
            group = read_group(self.words, i + 2)
            return self._add(i, group, Subject.YOU) if group else 0
        if (known is None and self.text(i) not in OPENERS) or (known and known[1] is Form.THIRD):
            return 0
        group = read_group(self.words, i)
        if group is None:
            return 0
        return self._add_opening(i, group)

    def _add_opening(self, i: int, group: Group) -> int:
        if group.form is Form.BASE and group.verb_at == i:
            if self.text(i) not in IMPERATIVES or self.marker is not Marker.NONE:
                return 0
            group.mood = Mood.REQUEST
            return self._add(i, group, Subject.YOU)
        if group.form is Form.PAST and self.marker is Marker.NONE and self.found and self.text(i - 1) in (*CONJUNCTIONS, ","):
            return 0
        return self._add(i, group, Subject.AGENT, is_progressive=group.form is Form.GERUND)

    def _shares_subject(self, i: int) -> bool:
        """True when an earlier "I will…" reaches on to a bare verb at `i` ("…, text you the details and book it")."""
        if not self.found:
            return False
        last = self.found[-1]
        return last.form is Form.BASE and last.subject is Subject.AGENT and self.text(i - 1) in (*CONJUNCTIONS, ",", *SEQUENCE)

    def _infinitive(self, i: int) -> int:
        """ "A moment to check", "I need your number to text you", "To book a table, I need…"."""
        if self.text(i) != "to":
            return 0
        group = read_group(self.words, i + 1)
        if group is None or group.form is not Form.BASE or verb_of(group.lemma) is None or self._is_noun_use(group.verb_at):
            return 0
        before = self.text(i - 1)
        is_opening = i == self.clause_start
        if not self.found and not is_opening and before not in MOMENT_WORDS:
            return 0
        if not is_opening and before in LINK_NOUNS:
            return 0
        self.marker = Marker.TO
        return self._add(i, group, Subject.AGENT, governor=len(self.found) - 1 if self.found else None)

    def _is_noun_use(self, i: int) -> bool:
        return self.text(i) in ("email", "text", "phone", "message") and not self._takes_object(i)

    def _gerund_after_marker(self, i: int) -> int:
        """ "Before booking", "without sending", "how about checking"."""
        if i != self.clause_start or self.marker is Marker.NONE or not self.text(i).endswith("ing"):
            return 0
        group = read_group(self.words, i)
        return self._add(i, group, Subject.AGENT) if group else 0

    def _coordinated(self, i: int) -> int:
        """A bare verb that shares the subject and mood of the one before it."""
        known = verb_of(self.text(i))
        if not known or not self.found:
            return 0
        last = self.found[-1]
        if known[1] not in INHERITED_FORMS[last.form] or not self._is_joined(i):
            return 0
        if self.text(i) in NOUN_LIKE and not self._takes_object(i):
            return 0
        shared = Predicate(
            start=i, verb_at=i, end=i, lemma=known[0], form=last.form, subject=last.subject, mood=last.mood,
            marker=last.marker, is_negated=last.is_negated and "or" in self._words_between(last.verb_at, i),
            is_perfect=last.is_perfect, is_past=last.is_past, is_progressive=last.is_progressive,
            is_passive=last.is_passive, is_question=last.is_question, is_new_clause=False,
            flags=(last.flags & {"still", "already", "maybe", "habit"}) | self._flags_before(i), governor=last.governor,
        )  # fmt: skip
        self.found.append(shared)
        return 1

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
        return following in DETERMINERS or following in OBJECT_OPENERS or following[:1].isdigit()

    def _add(
        self, start: int, group: Group, subject: Subject, *,
        is_question: bool = False, is_progressive: bool = False, is_new_clause: bool = True, governor: int | None = None,
    ) -> int:  # fmt: skip
        begin = self.marker_at if 0 <= self.marker_at <= start else min(start, max(self.clause_start, 0))
        begin = start if begin > start or self.found and begin <= self.found[-1].verb_at else begin
        self.found.append(
            Predicate(
                start=begin, verb_at=group.verb_at, end=group.verb_at + 1, lemma=group.lemma, form=group.form,
                subject=subject, mood=group.mood, marker=self.marker, is_negated=group.is_negated,
                is_perfect=group.is_perfect, is_past=group.is_past_tense,
                is_progressive=group.is_progressive or is_progressive, is_passive=group.is_passive,
                is_question=is_question, is_new_clause=is_new_clause, flags=group.flags | self.flags, governor=governor,
            )
        )  # fmt: skip
        self.marker, self.marker_at, self.flags = Marker.NONE, -1, set()
        return max(1, group.verb_at + 1 - start)


HAVE_OR_DO = {"have", "has", "had", "do", "does", "did"}
PREPOSITIONS = {"to", "for", "with", "of", "from", "about", "on", "at", "by", "like"}
SEQUENCE = {"then", "afterwards", "also", "now", "immediately", "just"}
OPENERS = {"going", "happy", "glad", "still", "able", "unable", "delighted", "not", "about", "ready", "more", "only"}
MOMENT_WORDS = {"moment", "second", "minute", "sec", "seconds", "minutes", "bit", "instant"}
OBJECT_OPENERS = {"me", "availability", "for", "whether", "if", "on", "over", "back", "with", "details", "directions", "through"}


def _is_adverb(text: str) -> bool:
    return text in SEQUENCE or text.endswith("ly") or text in ("please", "right", "away", "of", "course", "immediately")
