"""Text that is addressed to the agent: told apart from what a customer may hear."""

from __future__ import annotations

import re

from offline_model.slots import requested_fields

CUSTOMER = r"(?:customer|guest|caller|client|visitor|patient|user)"
LEAD = r"(?:(?:please|then|and|also|first|now|so|but|always|if [^,]+,)\s+)*"
TELLING = (
    r"ask|say|tell|never|always|do not|don't|offer|promise|mention|remind|explain|apologi[sz]e|transfer|treat|keep|make sure|avoid|"
    r"pretend|assume|upsell|recommend|suggest|propose|invite|escalate|inform|greet|thank|collect|verify|note|follow|answer|"
    r"respond|reply|stay|be (?:brief|polite|careful|friendly)|speak|act|refuse|hand over|take (?:the |their |his |her )?(?:name|number)|"
    r"ignore|stop|decline|confirm|repeat"
)
INSTRUCTION = re.compile(rf"^\W*{LEAD}(?:{TELLING})\b", re.IGNORECASE)
ABOUT_CUSTOMER = re.compile(rf"\b(?:the|this|that|a|an) {CUSTOMER}s?\b(?!')", re.IGNORECASE)
TO_CUSTOMER = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
CLAUSE = re.compile(r"[^.!?;\n]+(?:\.(?=\w)[^.!?;\n]+)*[.!?;]?")
ASK_FOR = re.compile(
    rf"^\W*{LEAD}ask (?:(?:the {CUSTOMER}|them|him|her) )?(?:again )?for (?P<what>[^.;,!?]+?)"
    r"(?:,? (?:before|first|again|now|and|so)\b.*)?[.;!]?$",
    re.IGNORECASE,
)
ASK_WHICH = re.compile(rf"^\W*{LEAD}ask (?:(?:the {CUSTOMER}|them|him|her) )?which\b", re.IGNORECASE)
PRONOUN = re.compile(r"^(?:it|this|that|these|those|them)$", re.IGNORECASE)
ARTICLE = re.compile(rf"^(?:the {CUSTOMER}'s|his or her|the|a|an|their|his|her|your)\s+", re.IGNORECASE)


def is_note(clause: str) -> bool:
    """True for an instruction to the agent, and for a statement about the customer."""
    if ABOUT_CUSTOMER.search(clause):
        return True
    return bool(INSTRUCTION.match(clause)) and not TO_CUSTOMER.search(clause)


def without_notes(text: str) -> str:
    """The text without the clauses that only the agent may read, with the customer addressed as "you"."""
    text = re.sub(rf"\bthe {CUSTOMER}'s\b", "your", text)
    kept = [clause.strip() for clause in _clauses(text) if not is_note(clause)]
    return " ".join(f"{clause[:-1]}." if clause.endswith(";") else clause for clause in kept)


def asked_for(text: str) -> tuple[list[str], str]:
    """The fields that the text has the agent ask for, and what it names in other words."""
    for clause in _clauses(text):
        found = ASK_FOR.match(clause)
        if found is None:
            continue
        what = "" if PRONOUN.match(found["what"]) else ARTICLE.sub("", found["what"].strip())
        fields = requested_fields(f"ask {what or text}")
        return fields, what
    return [], ""


def asks_which(text: str) -> bool:
    """True if the text has the agent ask which one it shall be."""
    return any(ASK_WHICH.match(clause) for clause in _clauses(text))


def _clauses(text: str) -> list[str]:
    return [found[0] for found in CLAUSE.finditer(text) if found[0].strip(" .;")]
