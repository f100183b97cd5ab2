"""Claim guard: holds back claims in a streamed reply until they are checked against the ledger.

Other text is released immediately. A claim without a matching effect is replaced by a true sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from conversations.claim_check.asked_message import asked_messages
from conversations.claim_check.claim_lexicon import HONEST, LEXICONS, ActionKind, ClaimLexicon
from conversations.claim_check.claim_parser import Opening, claimed_actions, is_assertion, is_under_way, read_clause
from conversations.context.agreed import booking_words, is_named
from conversations.context.turn_context import TurnContext
from conversations.models import MessageRole
from tools.models import Effect, EffectState

Release = Callable[[str], None]

# The end of a clause; the next clause may open as a claim.
BOUNDARY = re.compile(r"[.!?…,;:–—]+[\"”’)]*\s+|\s(?:and|but|so|und|aber|et|mais|y|pero|e|ma)\s+|\n+")
# The number of released characters a boundary may extend into.
TAIL = 12
# A period ends a sentence unless the next word is lowercase ("7 p.m. on Friday").
END = re.compile(r"[.!?…]+[\"”’)]*(?=\s+[^\sa-zà-ÿ])|\n")
# "Yes," before a claim affirms it. A word that may become one waits for its end.
YES = re.compile(r"\s*(?P<yes>(?:yes|yeah|yep|ja|sì|sí|oui)[,!.:;–—]*\s+)", re.IGNORECASE)
MAY_BECOME_YES = re.compile(r"\s*(?:y(?:es?|eah?|ep)?|ja?|s[ìí]?|o(?:ui?)?)?[,!.:;–—]*\s*", re.IGNORECASE)
SENTENCE_ENDS = '.!?…"”’)'

EFFECT_KINDS: Mapping[ActionKind, frozenset[str]] = {
    ActionKind.SENDING: frozenset({"sms", "email"}),
    ActionKind.BOOKING: frozenset({"booking", "meeting", "booking_search"}),
    ActionKind.CANCELLING: frozenset({"booking_cancel", "booking_search"}),
    ActionKind.TRANSFERRING: frozenset({"transfer"}),
}
BUILT_IN = frozenset({"availability", "product_availability", "zip_code", "end"}).union(*EFFECT_KINDS.values())
MEDIA = (
    (re.compile(r"\be-?mail|\bcourriel|\bcorreo", re.IGNORECASE), "email"),
    (re.compile(r"\bsms\b|\btext", re.IGNORECASE), "sms"),
)


@dataclass(frozen=True)
class Entry:
    """An effect reduced to the parts that matter for claims."""

    kind: str
    state: EffectState


@dataclass(frozen=True)
class Ledger:
    """The effects of a conversation when its reply started. `by_hand`: an operator has written in it and may have
    acted. `booked` are the words that name a confirmed booking of the customer, made in any conversation. Until the
    observer has noted the customer's language, `is_language_known` is False, and claims are read in all languages.
    `question` is what the reply answers.
    """

    entries: Sequence[Entry] = ()
    language: str = "en"
    is_language_known: bool = True
    by_hand: bool = False
    booked: Sequence[str] = ()
    question: str = ""

    def answer_to(self, claim: str) -> str | None:
        """None if an effect backs the claim; otherwise the honest sentence to replace it."""
        actions = claimed_actions(claim)
        if self.by_hand or not actions or not is_assertion(claim):
            return None
        if ActionKind.BOOKING in actions and is_named(claim, self.booked):
            return None
        states = {
            entry.state for entry in self.entries if any(_may_be_claimed(entry, action, claim) for action in actions)
        }
        pending, unknown, failed, nothing = HONEST.get(self._language_of(claim), HONEST["en"])
        if states & {EffectState.DONE, EffectState.HELD}:
            return None
        if states & {EffectState.PLANNED, EffectState.SENDING}:
            return pending
        if EffectState.UNKNOWN in states:
            return unknown
        return failed if EffectState.FAILED in states else nothing

    @property
    def lexicons(self) -> Mapping[str, ClaimLexicon]:
        """The languages in which claims are read, English first."""
        if not self.is_language_known:
            return LEXICONS
        return {one: LEXICONS[one] for one in ("en", self.language) if one in LEXICONS}

    def _language_of(self, claim: str) -> str:
        """The language of the sentence that replaces a claim: the customer's, or else the claim's."""
        if self.is_language_known:
            return self.language
        read = (one for one, lexicon in LEXICONS.items() if read_clause(f"{claim} ", [lexicon]) is Opening.CLAIM)
        return next(read, self.language)


class ClaimGuard:
    """Checks a reply's text and passes it on to `release`. `withheld` collects the claims that were replaced.

    Held back are the first words of a clause while they may become a claim, usually one or two, a claim until its end,
    and a "Yes," before either. After a question about a message, "it" is read as that message.
    """

    def __init__(self, release: Release, ledger: Ledger) -> None:
        self.withheld: list[str] = []
        self._release = release
        self._ledger = ledger
        self._lexicons = list(ledger.lexicons.values())
        transits = {language: one.transit for language, one in ledger.lexicons.items()}
        self._asked = asked_messages(ledger.question, transits)
        self._held = self._tail = self._yes = self._said = ""
        self._replacements: set[str] = set()
        self._opening = Opening.OPEN

    def write(self, piece: str) -> None:
        """Add a piece of text and release as much as possible."""
        self._held += piece
        while self._held and self._advance():
            pass

    def learn(self, effects: Iterable[Effect]) -> None:
        """Add effects from tools called while the reply is being written."""
        self._ledger = replace(self._ledger, entries=[*self._ledger.entries, *map(_entry, effects)])

    def close(self) -> None:
        """End the reply: check and release the held text."""
        if self._opening is Opening.OPEN:
            self._opening = self._read(f"{self._held} ")
        if self._opening is Opening.CLAIM:
            self._check_claim(len(self._held))
        self._release_up_to(len(self._held))

    def _advance(self) -> bool:
        """Make one decision. Return True if another one may follow."""
        if self._opening is Opening.OPEN:
            if self._takes_yes() or MAY_BECOME_YES.fullmatch(self._held):
                return False
            self._opening = self._read(self._held)
            return self._opening is not Opening.OPEN
        if self._opening is Opening.CLAIM:
            end = END.search(self._held)
            if end is not None:
                self._check_claim(end.end())
            return end is not None
        return self._release_clause()

    def _read(self, clause: str) -> Opening:
        if any(one.may_begin(clause) for one in self._asked):
            return Opening.OPEN
        return max(read_clause(one, self._lexicons) for one in self._wordings(clause))

    def _wordings(self, clause: str) -> list[str]:
        """The clause, and as it reads with the name of the message that it may be about."""
        named = [one.named_in(clause) for one in self._asked]
        return [clause, *(one for one in named if one != clause)]

    def _takes_yes(self) -> bool:
        """Set a "Yes," at the start of a sentence aside, until it is known what it affirms. True if nothing follows."""
        found = YES.match(self._held) if self._is_at_beginning() and not self._yes else None
        if found is not None:
            self._emit(self._held[: found.start("yes")])
            self._yes, self._held = found["yes"], self._held[found.end() :]
        return not self._held

    def _release_clause(self) -> bool:
        """Release text up to the end of the clause."""
        before = len(self._tail)
        ends = (found.end() - before for found in BOUNDARY.finditer(self._tail + self._held))
        end = next((end for end in ends if end > 0), None)
        self._release_up_to(len(self._held) if end is None else end)
        if end is not None:
            self._opening = Opening.OPEN
        return end is not None

    def _check_claim(self, end: int) -> None:
        """Release a complete claim, or replace it by an honest sentence; the same sentence is said once."""
        claim = self._held[:end]
        honest = None if claim.rstrip().endswith("?") else self._honest_answer(claim)
        self._opening = Opening.FREE
        if honest is None:
            self._release_up_to(end)
            return
        self.withheld.append(claim.strip())
        self._held, self._yes = self._held[end:], ""
        if honest not in self._replacements:
            self._replacements.add(honest)
            self._emit(honest if self._is_at_beginning() else _after_comma(honest))

    def _honest_answer(self, claim: str) -> str | None:
        """None if the claim is backed or promised; otherwise the sentence to replace it.

        Of the message that "it" may be, only that it was sent is a claim.
        """
        _, *named = self._wordings(claim)
        wordings = [claim, *(one for one in named if claimed_actions(one) == {ActionKind.SENDING})]
        if any(map(self._is_promised, wordings)):
            return None
        return next((honest for one in wordings if (honest := self._ledger.answer_to(one)) is not None), None)

    def _is_promised(self, claim: str) -> bool:
        """True for a message under way that the reply has just promised. The promise is kept, or its todo is staff's."""
        return is_under_way(claim) and any(one.transit.promises(self._said.lower()) for one in self._lexicons)

    def _is_at_beginning(self) -> bool:
        """True at the start of a sentence, False after a comma."""
        before = self._tail.rstrip()
        return not before or before[-1] in SENTENCE_ENDS

    def _release_up_to(self, length: int) -> None:
        released, self._held = self._held[:length], self._held[length:]
        self._emit(self._yes + released)
        self._yes = ""

    def _emit(self, text: str) -> None:
        if text:
            self._tail = (self._tail + text)[-TAIL:]
            self._said += text.replace("’", "'")
            self._release(text)


class PassThrough:
    """Passes text through unchecked, for projects without the check."""

    def __init__(self, release: Release) -> None:
        self.withheld: list[str] = []
        self.write = release

    def learn(self, effects: Iterable[Effect]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing; no text is held back."""


def guard_for(context: TurnContext, release: Release) -> ClaimGuard | PassThrough:
    """The filter for a reply's text, by the project's setting."""
    return ClaimGuard(release, read_ledger(context)) if context.config.truthful_status else PassThrough(release)


def language_of(context: TurnContext) -> str:
    """The language code of the honest sentences."""
    language = next((fact.value for fact in context.facts if fact.field == "language"), "en")
    return language[:2].lower()


def read_ledger(context: TurnContext) -> Ledger:
    """The ledger for the claims of a reply."""
    by_hand = any(message.role == MessageRole.OPERATOR for message in context.messages)
    return Ledger(
        [_entry(effect) for effect in context.effects],
        language=language_of(context),
        is_language_known=any(fact.field == "language" for fact in context.facts),
        by_hand=by_hand,
        booked=booking_words(context.agreements, context.config),
        question=question_of(context),
    )


def question_of(context: TurnContext) -> str:
    """The customer's message that the reply answers; empty if the agent speaks first."""
    newest = context.messages[-1] if context.messages else None
    return newest.content if newest is not None and newest.role == MessageRole.USER else ""


def _entry(effect: Effect) -> Entry:
    # A message in the outbox has not left yet.
    return Entry(effect.kind, EffectState.PLANNED if effect.is_in_outbox else EffectState(effect.state))


def _may_be_claimed(entry: Entry, action: ActionKind, claim: str) -> bool:
    """Return True if the effect may be the one claimed. The kind of a custom tool doesn't tell what it does, so it
    always may.
    """
    if action not in EFFECT_KINDS or entry.kind not in BUILT_IN:
        return True
    named = {kind for pattern, kind in MEDIA if pattern.search(claim)} if action is ActionKind.SENDING else set()
    return entry.kind in (named or EFFECT_KINDS[action])


def _after_comma(sentence: str) -> str:
    """The sentence as it continues after a comma."""
    return sentence if sentence.startswith("I'") else sentence[0].lower() + sentence[1:]
