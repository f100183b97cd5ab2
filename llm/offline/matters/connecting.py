"""Calls handed to a person."""

from __future__ import annotations

import re

from llm.offline.matters.clause import Clause
from llm.offline.matters.kinds import Matter
from llm.offline.matters.vocabulary import (
    PEOPLE,
)
from llm.offline.wordlist import words

OVER_TO = re.compile(
    r"\byou (?:over )?to (?:a|an|our|the|my|one of) (?:[\w-]+ ){0,3}"
    r"(?:department|desk|team|manager|specialist|colleague|nurse|doctor|person|line)\b"
)


def calling(clause: Clause) -> set[Matter]:
    here, phrase = clause.here, clause.phrase
    if clause.lemma in ("transfer", "connect", "patch", "redirect", "route", "direct", "switch", "relay", "escalate"):
        is_call = bool(here & words("you your call calls caller customer line them")) or bool(here & PEOPLE)
        is_call |= here <= words("now right away immediately straight please")
        if is_call and not here & words("money funds amount payment website page"):
            return {Matter.TRANSFER}
    if clause.lemma in ("put", "patch", "get") and re.search(
        r"\b(?:you|your call|the call|call|them|caller)\b.*\b(?:through|in touch|on to|onto|on with)\b|"
        r"through to|\bon the line\b|\bon the phone\b",
        phrase,
    ):
        return {Matter.TRANSFER}
    if clause.lemma in ("hand", "pass") and re.search(
        r"\byou (?:over|on|across|to)\b|\b(?:your|the|this) call\b|over to (?:a|my|our|the)", phrase
    ):
        return {Matter.TRANSFER}
    if clause.lemma in ("get", "bring", "take", "move", "send") and OVER_TO.search(phrase):
        return {Matter.TRANSFER}
    if clause.lemma == "bring" and phrase.startswith(("in ", "on ")) and here & PEOPLE:
        return {Matter.TRANSFER}
    if clause.lemma == "forward" and re.match(r"(?:you|your call|the call|this call)(?: (?:to|on|over)|$)", phrase):
        return {Matter.TRANSFER}
    if (
        clause.lemma in ("get", "bring", "fetch", "find", "grab", "have")
        and here & PEOPLE
        and re.search(
            r"\bfor you\b|\bto you\b|\bon (?:the|this) (?:line|call|phone)\b|\bto (?:speak|talk|take "
            r"(?:this|your|over))\b|\bin(?:to)? (?:the|this) call\b|take (?:over|your call|this call)",
            clause.whole,
        )
    ):
        return {Matter.TRANSFER}
    return set()
