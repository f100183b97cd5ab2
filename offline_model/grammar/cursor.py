"""Parser cursor: clause boundaries and their markers."""

from __future__ import annotations

from collections.abc import Sequence

from offline_model.grammar.lexicon import AGENT_PRONOUNS, AUXILIARIES, CONJUNCTIONS, INTRODUCTIONS, TEAM
from offline_model.grammar.predicate import Marker, Predicate, Subject
from offline_model.grammar.verb_group import VerbGroup, adverb_at
from offline_model.grammar.verbs import NOUN_LIKE, Form, verb_of
from offline_model.grammar.words import Sentence, Word

MARKERS: dict[tuple[str, ...], Marker] = {
    ("if",): Marker.IF,
    ("unless",): Marker.IF,
    ("provided",): Marker.IF,
    ("assuming",): Marker.IF,
    ("in", "case"): Marker.IF,
    ("as", "long", "as"): Marker.IF,
    ("whenever",): Marker.IF,
    ("whether",): Marker.IF,
    ("should", "you"): Marker.IF,
    ("once",): Marker.AFTER,
    ("when",): Marker.AFTER,
    ("after",): Marker.AFTER,
    ("until",): Marker.AFTER,
    ("till",): Marker.AFTER,
    ("as", "soon", "as"): Marker.AFTER,
    ("the", "moment"): Marker.AFTER,
    ("the", "minute"): Marker.AFTER,
    ("the", "second"): Marker.AFTER,
    ("the", "instant"): Marker.AFTER,
    ("before",): Marker.BEFORE,
    ("while",): Marker.WHILE,
    ("as",): Marker.WHILE,
    ("so", "that"): Marker.SO_THAT,
    ("so",): Marker.SO_THAT,
    ("because",): Marker.REASON,
    ("since",): Marker.REASON,
    ("which",): Marker.RELATIVE,
    ("without",): Marker.WITHOUT,
    ("instead", "of"): Marker.WITHOUT,
    ("rather", "than"): Marker.WITHOUT,
    ("how", "about"): Marker.HOW_ABOUT,
    ("what", "about"): Marker.HOW_ABOUT,
    ("what", "if"): Marker.HOW_ABOUT,
    ("why", "not"): Marker.HOW_ABOUT,
    ("why", "do", "not"): Marker.HOW_ABOUT,
    ("by",): Marker.TO,
    ("for",): Marker.RELATIVE,
}


LONGEST_MARKER = 3
# Words that open a clause only when one follows: "as you wish", and "as a text".
LOOSE_MARKERS = {("as",), ("for",), ("since",), ("by",), ("so",)}


class Cursor:
    """A place in a sentence: where the clause began, what opened it, and the predicates found so far."""

    def __init__(self, sentence: Sentence) -> None:
        self.words: Sequence[Word] = sentence.words
        self.found: list[Predicate] = []
        self.marker = Marker.NONE
        self.marker_at = -1
        self.flags: set[str] = set()
        self.clause_start = 0
        self.position = 0

    def text(self, i: int) -> str:
        return self.words[i].text if 0 <= i < len(self.words) else ""

    def _before(self, i: int, count: int) -> list[str]:
        return [word.text for word in self.words[max(0, i - count) : i]]

    def _at_clause_start(self, i: int) -> bool:
        return i == self.clause_start or self.text(i - 1) in CONJUNCTIONS

    def _boundary(self, i: int) -> int:
        if self.words[i].is_mark:
            self._open_clause(i + 1)
            return 1
        if i == self.clause_start:
            return self._opening(i)
        if self._marker_size(i) or self._joins_clause(i):
            self._open_clause(i)
            return self._opening(i)
        return 0

    def _joins_clause(self, i: int) -> bool:
        """ "And then I…", "but let me…": a conjunction with a subject of its own behind it."""
        if self.text(i) not in CONJUNCTIONS:
            return False
        j = i + 1
        while j < len(self.words) and (found := adverb_at(self.words, j)):
            j += found[0]
        if "please" in (word.text for word in self.words[i + 1 : j]):
            return True
        return self.text(j) in AGENT_PRONOUNS or self.text(j) in ("you", "let", "they") or self._agent_size(j) > 0

    def _open_clause(self, i: int) -> None:
        self._keep_verbless(i)
        self.clause_start = i
        self.marker, self.marker_at = Marker.NONE, -1
        self.flags = set()

    def _keep_verbless(self, i: int) -> None:
        """A clause whose verb wasn't recognised ("if Tuesday suits you") still governs its sentence."""
        if self.marker not in (Marker.IF, Marker.AFTER) or i - 1 <= self.marker_at:
            return
        at = max(self.marker_at, min(i, len(self.words)) - 2)
        self.found.append(
            Predicate(
                start=self.marker_at,
                verb_at=at,
                end=i,
                lemma="",
                form=Form.BASE,
                subject=Subject.OTHER,
                marker=self.marker,
            )
        )

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
        if (key in LOOSE_MARKERS or key[0] == "the") and not self._clause_follows(i):
            return False
        if key in (("for",), ("which",)) or (key == ("so",) and self.text(i - 2) in ("say", "think", "hope")):
            return False
        if MARKERS[key] is Marker.AFTER and self.text(i) in ("that", "this") and self.text(i + 1) not in AUXILIARIES:
            return False
        if key == ("should", "you"):
            return self.clause_start >= i - 2
        if MARKERS[key] in (Marker.AFTER, Marker.BEFORE, Marker.WHILE):
            return (
                self._clause_follows(i)
                or self.text(i).endswith("ing")
                or self.text(i) in ("confirmed", "done", "ready")
            )
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

    def _agent_size(self, i: int) -> int:
        """Number of words that name the agent's side at `i`: "we", "our team", "one of us"."""
        if self.text(i) in AGENT_PRONOUNS:
            return 1
        if self.text(i) in ("our", "the") and self.text(i + 1) in TEAM:
            return 2
        if self.text(i) == "our" and self.text(i + 2) in TEAM and self.text(i + 1) not in AUXILIARIES | {"kitchen"}:
            return 3
        words = [word.text for word in self.words[i : i + 4]]
        if (
            words[:1]
            and words[0] in ("someone", "somebody", "one", "member")
            and len(words) > 2
            and words[1] in ("from", "on", "of")
        ):
            if words[2] == "us":
                return 3
            if words[2] in ("our", "the") and words[3:4] and words[3] in TEAM:
                return 4
        return 0

    def _add(
        self,
        start: int,
        group: VerbGroup,
        subject: Subject,
        *,
        is_question: bool = False,
        is_progressive: bool = False,
        is_new_clause: bool = True,
        governor: int | None = None,
    ) -> int:
        begin = self.marker_at if 0 <= self.marker_at <= start else min(start, max(self.clause_start, 0))
        begin = start if begin > start or (self.found and begin <= self.found[-1].verb_at) else begin
        self.found.append(
            Predicate(
                start=begin,
                verb_at=group.verb_at,
                end=group.verb_at + 1,
                lemma=group.lemma,
                form=group.form,
                subject=subject,
                mood=group.mood,
                marker=self.marker,
                is_negated=group.is_negated,
                is_perfect=group.is_perfect,
                is_past=group.is_past_tense,
                is_progressive=group.is_progressive or is_progressive,
                is_passive=group.is_passive,
                is_question=is_question,
                is_new_clause=is_new_clause,
                flags=group.flags | self.flags,
                governor=governor,
            )
        )
        self.marker, self.marker_at, self.flags = Marker.NONE, -1, set()
        return max(1, group.verb_at + 1 - self.position)
