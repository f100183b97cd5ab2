"""Truthful status: a sentence that opens as a claim of something done is checked against the ledger before it is released.

Everything else flows on as it comes. A claim that nothing stands behind is replaced by a sentence that is true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from conversations.claim_check.claim_lexicon import HONEST, TONGUES, ActionKind
from conversations.claim_check.claim_parser import Opening, deeds_in, read_clause
from conversations.context.turn_context import TurnContext
from conversations.models import MessageRole
from tools.models import Effect, EffectState

Release = Callable[[str], None]

# Where a clause ends, and the next one may open as a claim.
BOUNDARY = re.compile(r"[.!?…,;:–—]+[\"”’)]*\s+|\s(?:and|but|so|und|aber|et|mais|y|pero|e|ma)\s+|\n+")
# How much of what was released a boundary may reach back into.
TAIL = 12
# A dot ends a sentence unless the next word goes on in small letters ("7 p.m. on Friday").
END = re.compile(r"[.!?…]+[\"”’)]*(?=\s+[^\sa-zà-ÿ])|\n")
SENTENCE_ENDS = '.!?…"”’)'

KINDS: Mapping[ActionKind, frozenset[str]] = {
    ActionKind.SENDING: frozenset({"sms", "email"}),
    ActionKind.BOOKING: frozenset({"booking", "meeting", "booking_search"}),
    ActionKind.CANCELLING: frozenset({"booking_cancel", "booking_search"}),
    ActionKind.TRANSFERRING: frozenset({"transfer"}),
}
BUILT_IN = frozenset({"availability", "product_availability", "zip_code", "end"}).union(*KINDS.values())
MEDIA = (
    (re.compile(r"\be-?mail|\bcourriel|\bcorreo", re.IGNORECASE), "email"),
    (re.compile(r"\bsms\b|\btext", re.IGNORECASE), "sms"),
)


@dataclass(frozen=True)
class Entry:
    """One effect, as far as a claim is concerned."""

    kind: str
    state: EffectState


@dataclass(frozen=True)
class Ledger:
    """What tools have done in a conversation, as its reply was begun. `by_hand`: staff has spoken in it, and may have done it."""

    entries: Sequence[Entry] = ()
    language: str = "en"
    by_hand: bool = False

    def answer_to(self, claim: str) -> str | None:
        """None where something stands behind the claim; else the honest sentence that takes its place."""
        deeds = deeds_in(claim)
        if self.by_hand or not deeds:
            return None
        states = {entry.state for entry in self.entries if any(_concerns(entry, deed, claim) for deed in deeds)}
        pending, unknown, failed, nothing = HONEST.get(self.language, HONEST["en"])
        if states & {EffectState.DONE, EffectState.HELD}:
            return None
        if states & {EffectState.PLANNED, EffectState.SENDING}:
            return pending
        if EffectState.UNKNOWN in states:
            return unknown
        return failed if EffectState.FAILED in states else nothing


class TruthfulText:
    """Passes a reply's pieces on to `release`. `withheld` keeps the claims that it did not let out.

    Held back are the words of a clause while they may still become a claim, mostly one or two, and a claim until its end.
    """

    def __init__(self, release: Release, ledger: Ledger) -> None:
        self.withheld: list[str] = []
        self._release = release
        self._ledger = ledger
        self._tongues = [TONGUES[one] for one in dict.fromkeys(("en", ledger.language)) if one in TONGUES]
        self._held = self._tail = ""
        self._said: set[str] = set()
        self._opening = Opening.OPEN

    def write(self, piece: str) -> None:
        """Take a piece; release what may go."""
        self._held += piece
        while self._held and self._step():
            pass

    def learn(self, effects: Iterable[Effect]) -> None:
        """What was done while the reply was written stands behind the claims that follow."""
        self._ledger = replace(self._ledger, entries=[*self._ledger.entries, *map(_entry, effects)])

    def close(self) -> None:
        """The reply is complete: what is held ends here."""
        if self._opening is Opening.OPEN:
            self._opening = read_clause(f"{self._held} ", self._tongues)
        if self._opening is Opening.CLAIM:
            self._judge(len(self._held))
        self._let_go(len(self._held))

    def _step(self) -> bool:
        """One decision; whether another one may follow."""
        if self._opening is Opening.OPEN:
            self._opening = read_clause(self._held, self._tongues)
            return self._opening is not Opening.OPEN
        if self._opening is Opening.CLAIM:
            end = END.search(self._held)
            if end is not None:
                self._judge(end.end())
            return end is not None
        return self._flow()

    def _flow(self) -> bool:
        """Release up to the end of the clause, after which another one opens."""
        before = len(self._tail)
        ends = (found.end() - before for found in BOUNDARY.finditer(self._tail + self._held))
        end = next((end for end in ends if end > 0), None)
        self._let_go(len(self._held) if end is None else end)
        if end is not None:
            self._opening = Opening.OPEN
        return end is not None

    def _judge(self, end: int) -> None:
        """A claim is complete: let it go, or say what is true instead, once."""
        claim = self._held[:end]
        honest = None if claim.rstrip().endswith("?") else self._ledger.answer_to(claim)
        self._opening = Opening.FREE
        if honest is None:
            self._let_go(end)
            return
        self.withheld.append(claim.strip())
        self._held = self._held[end:]
        if honest not in self._said:
            self._said.add(honest)
            self._send(honest if self._is_at_beginning() else _inside(honest))

    def _is_at_beginning(self) -> bool:
        """Whether a sentence begins here, or goes on after a comma."""
        before = self._tail.rstrip()
        return not before or before[-1] in SENTENCE_ENDS

    def _let_go(self, length: int) -> None:
        released, self._held = self._held[:length], self._held[length:]
        self._send(released)

    def _send(self, text: str) -> None:
        if text:
            self._tail = (self._tail + text)[-TAIL:]
            self._release(text)


class UncheckedText:
    """Passes everything on, where a project doesn't want its agent checked."""

    def __init__(self, release: Release) -> None:
        self.withheld: list[str] = []
        self.write = release

    def learn(self, effects: Iterable[Effect]) -> None:
        """Nothing is checked against it."""

    def close(self) -> None:
        """Nothing is held."""


def text_of(context: TurnContext, release: Release) -> TruthfulText | UncheckedText:
    """What a reply's pieces go through on their way, by the project's setting."""
    return TruthfulText(release, ledger_of(context)) if context.config.truthful_status else UncheckedText(release)


def ledger_of(context: TurnContext) -> Ledger:
    """What stands behind the claims of a reply."""
    language = next((fact.value for fact in context.facts if fact.field == "language"), "en")
    by_hand = any(message.role == MessageRole.OPERATOR for message in context.messages)
    return Ledger([_entry(effect) for effect in context.effects], language=language[:2].lower(), by_hand=by_hand)


def _entry(effect: Effect) -> Entry:
    return Entry(effect.kind, EffectState(effect.state))


def _concerns(entry: Entry, deed: ActionKind, claim: str) -> bool:
    """Whether an effect may be what a claim speaks of. What a project's own tool does isn't known by its kind."""
    if deed not in KINDS or entry.kind not in BUILT_IN:
        return True
    named = {kind for pattern, kind in MEDIA if pattern.search(claim)} if deed is ActionKind.SENDING else set()
    return entry.kind in (named or KINDS[deed])


def _inside(sentence: str) -> str:
    """A sentence as it goes on after a comma."""
    return sentence if sentence.startswith("I'") else sentence[0].lower() + sentence[1:]
