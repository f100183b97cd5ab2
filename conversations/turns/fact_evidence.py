"""Evidence of facts: a reading counts only if the customer's own words hold it.

The quote must stand in the customer's words of the exchange, and the value in the quote. Three kinds of fields have a
rule of their own: the parts of a name may stand anywhere in those words, also spelled; a language and an opt-in follow
from the quote, so that their values aren't looked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import phonenumbers

from conversations.common.consents import OPT_INS, WITHDRAWN
from conversations.context.transcript import TranscriptMessage
from conversations.models import MessageRole, Turn
from conversations.prompts.observer import ObservedFact, latest_exchange
from conversations.turns.number_words import NUMERALS
from tools.engine.quotes import contains_words
from tools.engine.words import plain_words

NOT_SAID = "The customer didn't say the quote in this exchange."
NOT_IN_QUOTE = "The value isn't in the customer's words."
NUMBER = re.compile(r"\d(?:[\s().\-/]*\d)*")
# Digits before a national number: a country code of up to three, behind 00 or 0.
LONGEST_PREFIX = 5
SPOKEN = ((re.compile(r"\s*[\[(]?\bat\b[\])]?\s*"), "@"), (re.compile(r"\s+dot\s+"), "."))
IMPLIED = frozenset({"language", *OPT_INS})


def own_words(turn: Turn, transcript: Sequence[TranscriptMessage]) -> list[str]:
    """The customer's messages in the exchange that the observer read. Long messages are clipped in the transcript."""
    said = [one.content for one in latest_exchange(transcript) if one.role == MessageRole.USER]
    return [turn.message.content, *said] if turn.message is not None else said


def why_unfounded(fact: ObservedFact, value: str, said: Sequence[str]) -> str:
    """Return why the customer's words don't hold the fact, or "". `value` is normalized.

    A withdrawn consent needs no evidence: taking it too seriously does no harm.
    """
    if fact.field in OPT_INS and value == WITHDRAWN:
        return ""
    if not any(contains_words(fact.quote, words) for words in said):
        return NOT_SAID
    if fact.field in IMPLIED:
        return ""
    text = " ".join(said) if fact.field == "name" else fact.quote
    return "" if is_value_in(fact.field, value, text) else NOT_IN_QUOTE


def is_value_in(field: str, value: str, text: str) -> bool:
    """True if the text contains the field's normalized value, in any usual notation."""
    match field:
        case "phone":
            return _has_phone(value, text)
        case "email":
            return _has_email(value, text)
        case _:
            return contains_words(value, text) or _has_words(value, text)


def _has_phone(number: str, text: str) -> bool:
    digits = "".join(str(unicodedata.decimal(one, one)) for one in text)
    national = str(phonenumbers.parse(number).national_number)
    written = (re.sub(r"\D", "", found) for found in NUMBER.findall(digits))
    return any(one.endswith(national) and len(one) - len(national) <= LONGEST_PREFIX for one in written)


def _has_email(address: str, text: str) -> bool:
    # Each run of spaces becomes one, because the patterns would try every part of a long run.
    said = " ".join(text.casefold().split())
    plain = said
    for pattern, sign in SPOKEN:
        plain = pattern.sub(sign, plain)
    found = rf"(?<![\w.+-]){re.escape(address.casefold())}(?![\w-]|\.\w)"
    return any(re.search(found, one) for one in (said, plain))


def _has_words(value: str, text: str) -> bool:
    """True if the text has every word of the value, also spelled: F-E-R-R-I. "Four" has 4, and 4 has "four"."""
    words = plain_words(text)
    spelled = {"".join(run.split()) for run in re.findall(r"(?:\b\w\b ?){2,}", " ".join(words))}
    said = {*words, *spelled, *(NUMERALS[one] for one in words if one in NUMERALS)}
    wanted = plain_words(value)
    return bool(wanted) and all(one in said or NUMERALS.get(one) in said for one in wanted)
