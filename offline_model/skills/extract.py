"""Extraction skill: finds commitments in a conversation and assigns each a todo type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from offline_model import commitment_patterns, prompt_reader
from offline_model.booking_dialog import YES
from offline_model.business import content_words
from offline_model.entities import EMAIL
from offline_model.grammar.rules import Rule, read_answer
from offline_model.prompt_reader import Line
from offline_model.wire import ChatCall
from offline_model.wordlist import words

TYPE = re.compile(r"^## (.+)\n((?:(?!^## ).*\n?)*)", re.MULTILINE)
NOTED = re.compile(r"^- “(.*?)”: ", re.MULTILINE)
MAIL = re.compile(r"\be-?mails?\b|\binbox\b", re.IGNORECASE)
CALL = re.compile(
    r"\b(?:call|ring|phone) (?:you|me|us|back)\b|\bcall(?:ing|ed)? (?:you )?back\b|\bcallback\b", re.IGNORECASE
)
TEAM = re.compile(r"\b(?:colleagues?|team|staff|manager|owner|chef|kitchen)\b", re.IGNORECASE)
# Conditional promises wait for the customer and make no todo.
CONDITIONAL = re.compile(r"\b(?:once|when|whenever|after|before|if|unless|as soon as)\b", re.IGNORECASE)
# Requests for work by a person.
REQUEST = re.compile(
    r"\b(?:can|could|would|will|may|please|ask(?:ing)? (?:you|for)|want|like)\b.*?"
    r"\b(?:(?:call|ring|phone)(?: (?:me|us))?(?: back)?|(?:ask|tell|inform|pass)\b.*?\b(?:chef|kitchen|manager|owner|team|"
    r"colleagues?|doctor|dentist|lead|warehouse|support)|look for)\b",
    re.IGNORECASE,
)
REFUSAL = re.compile(r"\b(?:can(?:'t|’t|not)|unfortunately|not able|unable|sorry, (?:but )?we)\b", re.IGNORECASE)
# Topics shared by promises and todo types.
KINDS = (("mail", MAIL), ("call", CALL), ("team", TEAM))
# Titles by topic.
TITLES = {"mail": "Write to {who}", "call": "Call {who} back", "team": "Ask the team about {who}"}
# The ways to reach a customer, with their names.
CONTACT = {"phone": "phone", "email": "e-mail"}
LANGUAGES = {"de": "German", "es": "Spanish", "fr": "French", "it": "Italian"}
LONGEST_YES = 4
SAID_APART = frozenset({"name", "language", *CONTACT})
# Words too common to match on.
COMMON = words("customer agent promised promise asked something send sent write somebody colleague let today tomorrow")


@dataclass(frozen=True)
class Type:
    """One type of todo, with the words that speak for it."""

    name: str
    words: frozenset[str]


def extract(call: ChatCall) -> dict[str, Any]:
    """The findings, in the shape of the skill's output."""
    user = call.last_user
    types = [Type(m[1].strip(), frozenset(_words(f"{m[1]} {m[2]}"))) for m in TYPE.finditer(call.system)]
    lines = prompt_reader.transcript(prompt_reader.section(user, "Conversation"))
    noted = NOTED.findall(prompt_reader.section(user, "Noted"))
    undecided = prompt_reader.bullets(prompt_reader.section(user, "Undecided"))
    known = prompt_reader.facts(prompt_reader.section(user, "Customer"))
    said = [quote for quote in (*_commitments(lines), *_requests(lines)) if not _is_among(quote, undecided)]
    quotes = dict.fromkeys([*undecided, *said])
    findings = [
        _finding(quote, type, lines=lines, known=known)
        for quote in quotes
        if (quote in undecided or not _is_among(quote, noted)) and (type := _type_of(quote, types, lines=lines))
    ]
    return {"todos": findings}


def _commitments(lines: list[Line]) -> Iterator[str]:
    """The sentences where the agent commits to something."""
    for line in lines:
        if line.role == "agent":
            for reading in read_answer(line.content):
                said = reading.sentence.words
                quote = line.content[said[0].start : said[-1].end]
                if reading.rule is None or (reading.rule is Rule.FUTURE_STEP and not CONDITIONAL.search(quote)):
                    yield quote
            yield from (
                one.rstrip(".!")
                for one in commitment_patterns.sentences(line.content)
                if commitment_patterns.is_promise(one)
            )


def _requests(lines: list[Line]) -> Iterator[str]:
    """The customer's requests for a person that the agent neither refused nor promised to do itself."""
    for at, line in enumerate(lines):
        answer = next((later for later in lines[at + 1 :] if later.role == "agent"), None)
        if line.role == "customer" and answer is not None and not _settles(answer):
            said = commitment_patterns.sentences(line.content)
            yield from (one for one in said if REQUEST.search(one) or commitment_patterns.is_request(one))


def _settles(answer: Line) -> bool:
    """True if an answer declines or promises the request."""
    is_refusal = REFUSAL.search(answer.content) is not None or commitment_patterns.is_refusal(answer.content)
    return is_refusal or any(_commitments([answer]))


def _type_of(quote: str, types: list[Type], *, lines: list[Line]) -> Type | None:
    """The type that shares most words with the promise; what was asked before it decides between equals."""
    said, asked = _words(quote), _words(_asked_before(quote, lines))
    scored = [(10 * len(type.words & said) + len(type.words & asked), -at, type) for at, type in enumerate(types)]
    best = max(scored, default=None, key=lambda one: one[:2])
    return best[2] if best and best[0] >= 10 else None


def _finding(quote: str, type: Type, *, lines: list[Line], known: dict[str, str]) -> dict[str, Any]:
    who = known.get("name", "The customer")
    asked = _asked_before(quote, lines)
    named = EMAIL.findall(f"{asked} {quote}")
    return {
        "quote": quote,
        "type": type.name,
        "description": " ".join(_sentences(quote, who=who, lines=lines, known=known)),
        "title": _title(quote, who=who),
        "recipients": [address for address in named if address.lower() != known.get("email", "").lower()],
    }


def _sentences(quote: str, *, who: str, lines: list[Line], known: dict[str, str]) -> Iterator[str]:
    """The task as a colleague would put it: what was said, how to reach the customer, and what else is known."""
    asked = _asked_before(quote, lines)
    if any(quote in line.content for line in lines if line.role == "customer"):
        yield f"{who} asked: {_quoted(quote)}"
    else:
        yield f"The agent promised {_inside(who)}: {_quoted(quote)}"
        if asked:
            yield f"Before that, {_inside(who)} wrote: {_quoted(asked)}"
    if contact := [f"{label} {known[field]}" for field, label in CONTACT.items() if field in known]:
        yield f"To reach them: {', '.join(contact)}."
    if (language := known.get("language", "en")) != "en":
        yield f"They write {LANGUAGES.get(language, language)}."
    if noted := [f"{field.replace('_', ' ')} {value}" for field, value in known.items() if field not in SAID_APART]:
        yield f"Also noted: {', '.join(noted)}."


def _inside(who: str) -> str:
    """The customer's name inside a sentence."""
    return "the customer" if who == "The customer" else who


def _quoted(words: str) -> str:
    """The words in quotation marks, with a stop if they end without one."""
    return f"“{words}”" if words.endswith((".", "!", "?", "…")) else f"“{words}”."


def _title(quote: str, *, who: str) -> str:
    """A short name of the task: the kind of work and the customer, or else the words themselves."""
    for kind, title in TITLES.items():
        if dict(KINDS)[kind].search(quote):
            return title.format(who=_inside(who))
    return quote


def _asked_before(quote: str, lines: list[Line]) -> str:
    """Last customer message before the quote that says more than yes."""
    said_at = next((at for at, line in enumerate(lines) if line.role == "agent" and quote in line.content), len(lines))
    before = [line for line in lines[:said_at] if line.role == "customer"]
    asked = [line for line in before if not YES.match(line.content) or len(line.content.split()) > LONGEST_YES]
    return (asked or before)[-1].content if before else ""


def _is_among(quote: str, others: list[str]) -> bool:
    return any(quote in other or other in quote for other in others)


def _words(text: str) -> set[str]:
    kinds = {f"#{name}" for name, pattern in KINDS if pattern.search(text) or commitment_patterns.is_about(name, text)}
    return (content_words(text) - COMMON) | kinds
