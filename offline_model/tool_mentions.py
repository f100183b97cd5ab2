"""Tool mentions: links the clauses of an answer to the offered tools."""

from __future__ import annotations

import re
from dataclasses import dataclass

from offline_model import prompt_reader
from offline_model.action_kinds.classifier import classify_clause
from offline_model.action_kinds.clause import Clause, clause_of
from offline_model.action_kinds.kinds import ActionKind
from offline_model.action_kinds.lexicon import BOOKED, CHECK, LINK_NOUNS, MANAGE, SEND
from offline_model.action_kinds.lookups import has_look
from offline_model.action_kinds.messages import is_manage_link, is_vague_sending
from offline_model.farewell import farewell
from offline_model.grammar.predicate import Marker, Mood, Subject
from offline_model.grammar.rules import Reading, Rule, read_answer
from offline_model.grammar.verbs import verb_of
from offline_model.grammar.words import quoted_spans
from offline_model.prompt_reader import Line, ToolText
from offline_model.tool_matching import custom_score, profile_of
from offline_model.translated_promises import find_translated_promises
from offline_model.wordlist import words

SENDINGS = {ActionKind.SMS, ActionKind.EMAIL, ActionKind.MANAGE_LINK}
PRONOUNS = words("it that this them one so those these")
TOPICS: tuple[tuple[ActionKind, re.Pattern[str]], ...] = (
    (ActionKind.ZIP, re.compile(r"\b(?:zip|post ?code|deliver to|service area)\b", re.IGNORECASE)),
    (ActionKind.SEARCH, re.compile(r"\b(?:my|your|existing) (?:booking|reservation|appointment)\b", re.IGNORECASE)),
    (
        ActionKind.AVAILABILITY,
        re.compile(
            r"\b(?:table|availab\w+|slots?|free|appointment|book|reserv\w+|(?:mon|tues|wednes|thurs|"
            r"fri|satur|sun)day|people|noon|tonight|tomorrow|(?:at|around) \d+)\b",
            re.IGNORECASE,
        ),
    ),
    (
        ActionKind.PRODUCT,
        re.compile(r"\b(?:in stock|product|do you (?:have|sell|carry|offer)|any .{0,20}left)\b", re.IGNORECASE),
    ),
)
MEDIA = (
    (ActionKind.EMAIL, re.compile(r"\be-?mails?\b|\binbox\b|\S+@\S+", re.IGNORECASE)),
    (ActionKind.SMS, re.compile(r"\b(?:text|sms|message me|whatsapp)\b|\+?\d[\d ]{7,}", re.IGNORECASE)),
)


OWNING = words("have deliver offer serve cover sell carry ship do fit take get stock service")
BREAKS = words("and but or so then plus yet please")
VAGUE = words(
    """
    what if whether we have works work yes for you now right away quickly moment second a one the into up out
    please again first in just of on at me us our system here there no problem minute to and okay get back real
    quick look is doable possible feasible still
    """
)


@dataclass(frozen=True)
class Mention:
    """Quote about a tool, with the rule that excludes it (None for a commitment)."""

    quote: str
    rule: str | None
    is_of_booking: bool = False
    """True if the quote concerns an existing booking."""


class MentionFinder:
    """Finds the mentions of each tool in an answer."""

    def __init__(self, answer: str, tools: tuple[ToolText, ...], messages: list[Line]) -> None:
        self.answer = answer
        self.messages = messages
        self.readings = read_answer(answer)
        self.clauses = [clause_of(r, reach=self._reach(i)) for i, r in enumerate(self.readings)]
        self.profiles = {tool.name: profile_of(tool) for tool in tools}
        self.kinds = {profile.kind for profile in self.profiles.values()}
        self.goodbye = farewell(answer)
        self.foreign = find_translated_promises(answer)
        self.custom = [self._custom_tool(clause) for clause in self.clauses]
        self.action_kinds = [self._action_kinds(i) for i in range(len(self.readings))]

    @property
    def ends_with_goodbye(self) -> bool:
        return self.goodbye is not None and self.goodbye[1]

    def _reach(self, i: int) -> int:
        """End of a predicate's words, including its complements."""
        this = self.readings[i]
        end = this.predicate.end
        for other in self.readings[i + 1 :]:
            if other.index != this.index or not self._is_complement(other):
                break
            end = other.predicate.end
        return end

    @staticmethod
    def _is_complement(reading: Reading) -> bool:
        p = reading.predicate
        opener = reading.sentence.words[p.start].text
        before = reading.sentence.words[p.start - 1].text if p.start else ""
        is_promise = p.subject is Subject.AGENT and p.mood is Mood.COMMIT
        if (before in ("where", "what", "which", "that") and not is_promise) or opener == "sure":
            return True
        if _is_reduced_relative(reading) or before in ("lets", "allows"):
            return True
        if p.marker is Marker.TO or (p.marker is Marker.SO_THAT and p.subject is Subject.YOU):
            return True
        return (
            (p.marker is Marker.IF and opener in ("if", "whether"))
            or opener in ("what", "when", "which", "how", "that", "where", "who", "why", "whose")
            or (
                p.subject is Subject.AGENT
                and p.lemma in OWNING
                and p.marker is not Marker.AFTER
                and not p.flags & {"conj"}
            )
        )

    def _custom_tool(self, clause: Clause) -> str:
        """Best matching custom tool of a clause, or an empty string."""
        scored = [(custom_score(p, clause), name) for name, p in self.profiles.items() if p.kind is None]
        best = max(scored, default=(0, ""))
        return best[1] if best[0] else ""

    def _action_kinds(self, i: int) -> set[ActionKind]:
        if self.custom[i]:
            return set()
        clause = self.clauses[i]
        found = classify_clause(clause)
        if self._is_absorbed(i):
            return set()
        if not found:
            found = self._by_context(i, clause)
        if self._is_managed_later(i):
            found = found | {ActionKind.MANAGE_LINK}
        if ActionKind.MEETING not in self.kinds:
            found = found & SENDINGS if ActionKind.MEETING in found else found
        if clause.lemma == "schedule" and found == {ActionKind.BOOKING} and ActionKind.BOOKING not in self.kinds:
            return {ActionKind.MEETING}
        return found

    def _is_absorbed(self, i: int) -> bool:
        """True for a complement: "let me see if we have a table" is one act, that of the seeing."""
        reading = self.readings[i]
        if not i or self.readings[i - 1].index != reading.index or not self._is_complement(reading):
            return False
        owner = self.clauses[i - 1]
        is_firm = reading.predicate.marker is Marker.TO and reading.rule is None
        return owner.lemma in CHECK and bool(self._previous_action_kinds(i)) and not is_firm

    def _is_managed_later(self, i: int) -> bool:
        """ "I'll send you a link, and with it you can change the booking": the sentence says later what the link is for."""
        clause = self.clauses[i]
        if clause.lemma not in SEND or not clause.all & LINK_NOUNS or is_manage_link(clause):
            return False
        uses = [word for other in self._same_sentence_after(i) for word in self.clauses[other].all]
        verbs = {self.clauses[other].lemma for other in self._same_sentence_after(i)}
        return bool(verbs & MANAGE) and bool(set(uses) & BOOKED)

    def _same_sentence_after(self, i: int) -> list[int]:
        """The customer's own clauses behind this one."""
        index = self.readings[i].index
        return [
            at
            for at in range(i + 1, len(self.readings))
            if self.readings[at].index == index and self.readings[at].predicate.subject is Subject.YOU
        ]

    def _previous_action_kinds(self, i: int) -> set[ActionKind]:
        return classify_clause(self.clauses[i - 1])

    def _by_context(self, i: int, clause: Clause) -> set[ActionKind]:
        """Action kinds of a clause whose object is a pronoun, resolved from context."""
        if is_vague_sending(clause) or (clause.lemma in ("send", "forward") and clause.here & PRONOUNS):
            return self._media(i) | ({ActionKind.MANAGE_LINK} if self._is_link(i) else set())
        if not self._is_about_pronoun(clause):
            return set()
        if clause.lemma in ("check", "look", "verify", "find", "see", "search") or (
            clause.lemma == "have" and has_look(clause)
        ):
            return self._topic(i, clause)
        return set()

    def _is_link(self, i: int) -> bool:
        """ "Here comes the link to change it, I'm sending it now": it may stand in the clause before."""
        before = self.clauses[i - 1 : i] if self.clauses[i].here & PRONOUNS else []
        return any(is_manage_link(clause) for clause in (self.clauses[i], *before))

    def _is_about_pronoun(self, clause: Clause) -> bool:
        """ "Check that for you", "look into it", or no object at all."""
        content = [w for w in clause.after if w.isalpha() and w not in PRONOUNS | VAGUE]
        return not content

    def _topic(self, i: int, clause: Clause) -> set[ActionKind]:
        for text in self._context_before(i):
            for action_kind, pattern in TOPICS:
                if pattern.search(text) and action_kind in self.kinds:
                    return {action_kind}
        if clause.lemma in ("see", "find") or any(line.role == "customer" for line in self.messages):
            return set()
        return {ActionKind.AVAILABILITY}

    def _context_before(self, i: int) -> list[str]:
        """The sentence itself, those before it, and the customer's last words."""
        at = self.readings[i].sentence.words[0].start
        said = prompt_reader.last_of(self.messages, "customer")
        own = [self.readings[i].sentence.text, self.answer[:at]]
        return [*own, said] if said else own

    def _media(self, i: int) -> set[ActionKind]:
        """Medium that was named last; none if no medium was named."""
        for text in self._context_before(i):
            found = [
                action_kind for action_kind, pattern in MEDIA if pattern.search(text) and action_kind in self.kinds
            ]
            if found:
                return {found[0] if len(found) == 1 else ActionKind.SMS}
        return set() if self.readings[i].rule is None else {ActionKind.SMS}

    # Mentions

    def mentions_of(self, tool: ToolText) -> list[Mention]:
        profile = self.profiles[tool.name]
        found = []
        for i, reading in enumerate(self.readings):
            fits = self.custom[i] == tool.name if profile.kind is None else profile.kind in self._offered(i)
            if fits:
                is_of_booking = ActionKind.MANAGE_LINK in self.action_kinds[i]
                found.append(Mention(self._quote(i), self._rule_of(reading), is_of_booking))
        found += [Mention(quote, None) for action_kind, quote in self.foreign if action_kind is profile.kind]
        if profile.kind is ActionKind.GOODBYE and self.goodbye is not None:
            found.append(self._goodbye_mention(self.goodbye))
        return found

    def _offered(self, i: int) -> set[ActionKind]:
        """Action kinds of a clause; a management link also counts as a text."""
        found = self.action_kinds[i]
        if ActionKind.MANAGE_LINK in found and found & {ActionKind.EMAIL} == set():
            return found | {ActionKind.SMS}
        return found

    @staticmethod
    def _rule_of(reading: Reading) -> str | None:
        return str(reading.rule) if reading.rule is not None else None

    def _goodbye_mention(self, goodbye: tuple[str, bool]) -> Mention:
        quote, is_last = goodbye
        at = self.answer.find(quote)
        if any(start <= at < end for start, end in quoted_spans(self.answer)):
            return Mention(quote, str(Rule.QUOTATION))
        return Mention(quote, None if is_last else "condition")

    def _quote(self, i: int) -> str:
        """The exact words of the clause, from its subject to the end of what belongs to it."""
        reading = self.readings[i]
        sentence = reading.sentence.words
        last = sentence[min(len(sentence), self._quote_end(i)) - 1]
        first = sentence[reading.predicate.start]
        quote = self.answer[first.start : last.end].strip()
        return re.sub(r"(?:[\s,;:—–-]+(?:(?:and|or|but|so|then|please)\b)?)+$", "", quote) or quote

    def _quote_end(self, i: int) -> int:
        """Past the complements, and past a clause that no mark or conjunction parts from this one ("know that you are vegan")."""
        this = self.readings[i]
        end = max(self._reach(i), this.predicate.end)
        if self._is_managed_later(i):
            end = self.readings[self._same_sentence_after(i)[-1]].predicate.end
        for other in self.readings[i + 1 :]:
            if other.index != this.index:
                break
            start = other.predicate.start
            before = this.sentence.words[start - 1]
            if start > end or before.is_mark or before.text in BREAKS or other.predicate.marker is not Marker.NONE:
                break
            end = max(end, other.predicate.end)
        return end


def _is_reduced_relative(reading: Reading) -> bool:
    """ "The table you've booked", "everything you need": a clause right behind its noun, with nothing between them."""
    p = reading.predicate
    before = reading.sentence.words[p.start - 1] if p.start else None
    if before is None or p.subject is not Subject.YOU or p.marker is not Marker.NONE or p.is_question:
        return False
    is_noun = not before.is_mark and before.text not in BREAKS and verb_of(before.text) is None
    return is_noun and p.mood is Mood.PLAIN
