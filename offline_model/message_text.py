"""Text of messages and e-mails, derived from a todo's instructions and the business context."""

from __future__ import annotations

import re

from offline_model.business import best_sentences, opening_hours, week_groups
from offline_model.phrases import days_in, hours_in

HOURS = re.compile(
    r"\b(?:hours?|open|opening|close|closing|orari\w*|öffnungszeiten|horaires?|horarios?)\b", re.IGNORECASE
)
# Instruction prefix; the message follows it.
TELLS = re.compile(
    r"^(?:please |kindly )?(?:(?:tell|inform|remind|let)\b[^:.]{0,60}?(?::| know that | that )"
    r"|(?:e-?mail|write|send|text)\b[^:.]{0,60}?(?::| to say (?:that )?| that "
    r"(?!(?:\w+ ){1,2}(?:asked|wants?|wanted|requested|needs?|needed|was promised|were promised)\b)))\s*",
    re.IGNORECASE,
)
DRAFTED = re.compile(r"Tell the customer: “(.+?)”(?:\n|$)", re.DOTALL)
BROKEN = re.compile(r"^Correction: on (?P<day>.+?) the agent said “(?P<quote>.+?)”, and that did not happen", re.DOTALL)
QUOTED = re.compile(r"“(.+?)”", re.DOTALL)
# Object of the sending, after the verb and the recipient.
THING = re.compile(
    r"^(?i:please |kindly )?(?i:e-?mail|send|write|text|give|tell|answer)\s+(?:to\s+)?"
    r"(?:the (?:guest|customer|caller|client|patient)|[A-Z]\w+(?:\s[A-Z]\w+)?|them|her|him)\s+(?:about\s+)?(?P<thing>[^.;]+)"
)
THING_FIRST = re.compile(r"^(?i:please |kindly )?(?i:e-?mail|send|text|give)\s+(?P<thing>.+?)\s+to\s")
ITS_CLAUSE = re.compile(r",|\s(?:that|which|who|as)\s")


def message(todo: str, *, context: str, language: str) -> str:
    """Message to the customer that carries out a todo."""
    words = " ".join(todo.split())
    if drafted := DRAFTED.search(todo):
        return drafted[1].strip()
    if broken := BROKEN.search(todo):
        return f"On {broken['day']} we told you: “{broken['quote']}” That did not happen, and we are sorry."
    if described := stated(words):
        return described
    wanted = " ".join(QUOTED.findall(words)) or subject_of(words)
    return information(context, wanted, language, between="\n") or f"This is about {subject_of(words)}."


def stated(words: str) -> str:
    """Message quoted in an instruction such as “Tell the guest that …”, or an empty string."""
    described = TELLS.match(words)
    text = words[described.end() :].strip() if described else ""
    return text[:1].upper() + text[1:]


def subject_of(words: str) -> str:
    """Short subject of a todo."""
    asked = QUOTED.findall(words)
    if asked:
        return f"“{asked[-1].strip().rstrip('.')}”"
    found = THING.match(words) or THING_FIRST.match(words)
    return ITS_CLAUSE.split(found["thing"])[0].strip() if found else words.rstrip(".")


def information(context: str, wanted: str, language: str, *, between: str = " ") -> str:
    """Business information on a topic, joined by `between`; empty if there is none."""
    if HOURS.search(wanted) and opening_hours(context):
        groups = week_groups(context)
        return ", ".join(f"{days_in(first, last, language)} {hours_in(said, language)}" for first, last, said in groups)
    return between.join(best_sentences([context], wanted))
