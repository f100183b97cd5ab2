"""Clauses about call transfers."""

from __future__ import annotations

import re

from offline_model.action_kinds.clause import Clause
from offline_model.action_kinds.kinds import ActionKind
from offline_model.action_kinds.lexicon import PEOPLE
from offline_model.wordlist import words

OVER_TO = re.compile(
    r"\byou (?:over )?to (?:(?:a|an|our|the|my|one of) (?:[\w-]+ ){0,3}"
    r"(?:department|desk|team|manager|specialist|colleagues?|nurse|doctor|person|line|lady|gentleman)|someone|somebody)\b"
)

HANDING = words("transfer connect patch redirect route direct switch relay escalate")
AT_ONCE = words("now right away immediately straight please")
ELSEWHERE = words(
    """
    money funds amount payment website page form class course room booking appointment reservation wi-fi wifi network
    internet printer account
    """
)
# Objects of a transfer: the caller or the call, unlike "your complaint".
CALLER = re.compile(
    r"(?:now |right |straight |directly )*"
    r"(?:(?:both of )?you|(?:your|the|this|that) (?:phone |earlier |last )?(?:call|caller|line)|them|him|her|everyone|to)\b"
)
THROUGH = re.compile(
    r"^(?:\w+ly )?(?:you|your call|(?:the|this|that) (?:call|caller)|them|him|her)\b.*\b(?:through|in touch|on to|onto|on with)\b"
    r"|^through\b|\bon the line\b|\bon the phone\b"
)


def _is_to_somebody(clause: Clause) -> bool:
    """ "Switch you over to the desk", not "to the evening class"."""
    return bool(clause.here & (PEOPLE | words("over desk line operator service")))


def transfer_kinds(clause: Clause) -> set[ActionKind]:
    here, phrase = clause.here, clause.phrase
    if clause.lemma in HANDING and (CALLER.match(phrase) or set(clause.rest) <= AT_ONCE) and not here & ELSEWHERE:
        return {ActionKind.TRANSFER} if clause.lemma != "switch" or _is_to_somebody(clause) else set()
    if clause.lemma in ("put", "patch", "get") and THROUGH.search(phrase):
        return {ActionKind.TRANSFER}
    if clause.lemma in ("hand", "pass") and re.search(
        r"\byou (?:over|on|across|to)\b|\b(?:your|the|this) call\b|over to (?:a|my|our|the)", phrase
    ):
        return {ActionKind.TRANSFER}
    if clause.lemma in ("get", "bring", "take", "move", "send") and OVER_TO.search(phrase):
        return {ActionKind.TRANSFER}
    if clause.lemma == "bring" and phrase.startswith(("in ", "on ")) and here & PEOPLE:
        return {ActionKind.TRANSFER}
    if clause.lemma == "forward" and re.match(r"(?:you|your call|the call|this call)(?: (?:to|on|over)|$)", phrase):
        return {ActionKind.TRANSFER}
    if (
        clause.lemma in ("get", "bring", "fetch", "find", "grab", "have")
        and here & PEOPLE
        and re.search(
            r"\bfor you\b|\bto you\b|\bon (?:the|this) (?:line|call|phone)\b|\bto (?:speak|talk|take "
            r"(?:this|your|over))\b|\bin(?:to)? (?:the|this) call\b|take (?:over|your call|this call)",
            clause.whole,
        )
    ):
        return {ActionKind.TRANSFER}
    return set()
