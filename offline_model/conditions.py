"""Evaluation of a tool's conditions against the conversation."""

from __future__ import annotations

import re
from dataclasses import dataclass

from offline_model.action_kinds.lexicon import EMPTY
from offline_model.prompt_reader import Condition, Line, last_of
from offline_model.tool_matching import COMMON, stem
from offline_model.wordlist import words

COMMITTING = re.compile(
    r"promis|commit|explicit|agent\w* (?:itself|states?|says?|will|confirms?|tells?|announces?|"
    r"offers?|is about|intends?)|the agent\b.*\b(?:now|will|perform|going to)|agentsa|agentstates|"
    r"agentwill",
    re.IGNORECASE,
)
EXISTING = re.compile(
    r"existing|manag\w+ (?:an? |the |their )?(?:existing )?(?:booking|reservation)|notrelated", re.IGNORECASE
)
CONFIRMING = re.compile(
    r"confirm|agree|accept|consent|approv|said yes|wants? (?:it|this|that)|asked for|requested|"
    r"customerwants",
    re.IGNORECASE,
)
ASKING_NOTHING = re.compile(
    r"(?:asks?|question).*(?:nothing|no\b|not)|(?:nothing|no\b|not)\w* ?.*(?:asks?|question)|"
    r"asksnothing",
    re.IGNORECASE,
)
FAREWELL = re.compile(r"goodbye|good-bye|farewell|says? bye|last thing|closing", re.IGNORECASE)
NEGATED = re.compile(
    r"^(?:not|no|isnot|doesnot)[A-Z_]|\b(?:does not|is not|did not|no |has not|never|nothing|"
    r"isn't|doesn't)\b"
)
MANAGING = re.compile(
    r"\b(?:manag|chang|modif|cancel|edit|updat|reschedul|amend|mov|view|access|swap)\w*\b.{0,40}\b(?:booking|"
    r"reservation|appointment|it|table)|\b(?:your|the|an) existing (?:booking|reservation|appointment)|"
    r"\b(?:your|the|existing) (?:booking|reservation) can (?:still )?be |"
    r"(?:booking|reservation) management|manage-booking",
    re.IGNORECASE,
)
YES = re.compile(
    r"\b(?:yes|yeah|yep|sure|please|okay|ok|perfect|great|sounds good|go ahead|that works|works "
    r"for me|correct|exactly|fine|lovely|absolutely|definitely|book it|do it|i'd love|let's "
    r"do|confirm\w*|right|s[iì]|ja|oui|gerne|claro|certo|va bene|that'd be|that would be|thank)\b",
    re.IGNORECASE,
)
NO = re.compile(
    r"\b(?:no|nope|not yet|(?<!why )(?:don't|do not)|wait|hold on|maybe|not sure|let me think|instead|rather "
    r"not|nein|non|i'll think|changed my mind)\b",
    re.IGNORECASE,
)
# Undecided: "not sure yet", though it holds a word of agreement.
UNDECIDED = re.compile(
    r"\b(?:not (?:quite |really |so |entirely )?(?:sure|certain|decided)|unsure|undecided|don't know(?: yet)?|"
    r"let me (?:think|check|ask))\b",
    re.IGNORECASE,
)
# A question for information; "what about Friday?" and "why don't you book it?" are wishes.
INQUIRY = re.compile(
    r"\W*(?:(?:what|how)(?:'s)? (?!about\b)|(?:when|where|which|who)\b|why (?!do(?:n't| not)\b))[^.!?]*\?\W*$",
    re.IGNORECASE,
)
REFUSED = re.compile(r"\W*(?:no|nope|nein|non|not yet|wait|hold on)\b", re.IGNORECASE)
WANTS = re.compile(
    r"\b(?:i(?:'d| would) like|i want|i need|can (?:you|i|we)|could (?:you|i|we)|please|book|"
    r"reserve|vorrei|ich möchte|je voudrais|quisiera)\b",
    re.IGNORECASE,
)
SYNONYMS = {
    "allergy": words(
        """
    allergy allergies allergic nut nuts gluten lactose peanut shellfish celiac coeliac intolerant intolerance
    """
    ),
    "diet": words(
        """
    diet dietary vegan vegetarian halal kosher pescatarian gluten-free gluten lactose
    """
    ),
    "phone": words("phone number mobile +"),
    "email": words("email e-mail mail @"),
    "zip": words("zip postcode postal"),
    "date": words(
        """
    today tomorrow tonight monday tuesday wednesday thursday friday saturday sunday date
    """
    ),
    "human": words("human person someone manager colleague representative operator agent"),
}


@dataclass(frozen=True)
class ConditionContext:
    """Input of a condition check. `is_committed` is true if the agent commits to the tool."""

    answer: str
    messages: tuple[Line, ...]
    quote: str
    is_committed: bool
    is_last_goodbye: bool = False
    is_of_booking: bool = False

    @property
    def everything(self) -> str:
        return " ".join([*(line.content for line in self.messages), self.answer])


def is_met(condition: Condition, context: ConditionContext) -> bool:
    """True if the condition holds."""
    text = f"{condition.name} {condition.description}"
    if ASKING_NOTHING.search(text):
        return "?" not in context.answer
    if FAREWELL.search(text):
        return context.is_last_goodbye or context.is_committed
    if EXISTING.search(text) and _is_negative(condition):
        return not (context.is_of_booking or MANAGING.search(context.quote))
    if _is_about_customer(condition):
        return _has_confirmed(context)
    if COMMITTING.search(text):
        return context.is_committed
    if CONFIRMING.search(text):
        return _has_confirmed(context)
    return _is_named(condition, context) is not _is_negative(condition)


def _is_negative(condition: Condition) -> bool:
    return bool(NEGATED.search(condition.name) or NEGATED.search(condition.description))


def is_commitment(condition: Condition) -> bool:
    """True for a condition that is nothing but the commitment ("agentPromised")."""
    text = f"{condition.name} {condition.description}"
    others = ASKING_NOTHING.search(text) or FAREWELL.search(text) or (EXISTING.search(text) and _is_negative(condition))
    return bool(COMMITTING.search(text)) and not others and not _is_about_customer(condition)


def _is_about_customer(condition: Condition) -> bool:
    subject = re.match(
        r"(?:the )?(?:customer|guest|caller|user|client|visitor|they)\b", condition.description, re.IGNORECASE
    )
    named = re.match(r"(?:customer|guest|caller|user|client)", condition.name, re.IGNORECASE)
    return bool((subject or named) and CONFIRMING.search(f"{condition.name} {condition.description}"))


def _has_confirmed(context: ConditionContext) -> bool:
    """True if the customer agreed or asked for it; without a history, if the agent commits."""
    said = last_of(list(context.messages), "customer")
    if not said:
        return context.is_committed
    if (
        REFUSED.match(said)
        or UNDECIDED.search(said)
        or INQUIRY.match(said)
        or (NO.search(said) and not YES.search(said))
    ):
        return False
    return bool(YES.search(said) or WANTS.search(said)) or not context.answer.strip().endswith("?")


def _is_named(condition: Condition, context: ConditionContext) -> bool:
    """True if the conversation mentions the condition's subject."""
    said = set(re.findall(r"[\w'+@-]+", context.everything.lower()))
    stems = {stem(word) for word in said}
    wanted = [
        w
        for w in re.findall(r"[a-z]+", condition.description.lower())
        if w not in EMPTY | COMMON | FILLERS and len(w) > 2
    ]
    if not wanted:
        return context.is_committed
    for word in wanted:
        key = next((k for k in SYNONYMS if stem(k) == stem(word)), "")
        if stem(word) in stems or (key and (SYNONYMS[key] & said or _has_pattern(key, context.everything))):
            return True
    return False


def _has_pattern(key: str, text: str) -> bool:
    patterns = {
        "phone": r"\+?\d[\d ()-]{6,}",
        "email": r"\S+@\S+",
        "zip": r"\b\d{4,5}\b",
        "date": r"\b\d{1,2}[./:]\d{1,2}\b|\b\d ?[ap]m\b",
    }
    return key in patterns and bool(re.search(patterns[key], text))


FILLERS = words(
    """
    named mentioned given provided known present true condition words whether must conversation answer message
    latest made been about
    """
)
