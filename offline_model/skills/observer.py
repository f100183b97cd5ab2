"""Observer skill: customer facts with their quotes, and a quality score."""

from __future__ import annotations

import re
from typing import Any

from offline_model import prompt_reader
from offline_model.entities import (
    NAME_QUESTION,
    Entity,
    find_day,
    find_diet,
    find_email,
    find_name,
    find_party,
    find_phone,
    find_time,
)
from offline_model.language import language_of
from offline_model.prompt_reader import Line, last_of
from offline_model.wire import ChatCall

ASKS_SCORE = "- Rate how well"
EXTRA = re.compile(r"`([^`]+)` \((.+?)\)(?=, `|\.$|\.\n)", re.MULTILINE)
STANDARD = ("name", "phone", "email", "language", "sms_opt_in", "email_opt_in", "call_opt_in", "recording_opt_in")
RECORDING = "recording_opt_in"
CHANNELS = {
    "sms_opt_in": r"(?:text|sms|message|whatsapp)(?:s|es|ing)?(?: messages?)?",
    "email_opt_in": r"(?:e-?mail|newsletter|mail)(?:s|ing)?",
    "call_opt_in": r"(?:call|ring|phone call)(?:s|ing)?",
    RECORDING: r"record(?:s|ing|ings|ed)?",
}
REFUSAL = r"(?:don't|do not|please no|no more|no|never|stop|rather not|not want(?: any)?|without)(?: \w+){0,3}? "
YES = re.compile(
    r"^\W*(?:yes|yeah|yep|sure|of course|please do|ok(?:ay)?|fine|gladly|absolutely|go ahead|"
    r"s[iì]|certo|ja|gerne|oui|sim|claro|tak)\b",
    re.IGNORECASE,
)
NO = re.compile(r"^\W*(?:no|nope|rather not|please don't|better not|nein|non|não|nie|nee)\b", re.IGNORECASE)
FRUSTRATION = re.compile(
    r"\b(?:ridiculous|useless|terrible|awful|annoy\w*|frustrat\w*|angry|unacceptable|joke|worst|"
    r"waste of|already told|again\?|for the (?:second|third) time|not what i asked|you('re|"
    r" are) not (?:listening|helping)|speak to a (?:human|person|manager)|stupid|wrong|hate|"
    r"forget it|never mind)\b",
    re.IGNORECASE,
)
DELIGHT = re.compile(
    r"\b(?:thanks|thank you|perfect|great|wonderful|lovely|excellent|amazing|grazie|danke|merci|"
    r"gracias)\b",
    re.IGNORECASE,
)


def observe(call: ChatCall) -> dict[str, Any]:
    """The observation, in the shape of the skill's output."""
    user = call.last_user
    known = prompt_reader.facts(prompt_reader.section(user, "KnownFacts"))
    latest = prompt_reader.transcript(prompt_reader.section(user, "LatestExchange"))
    messages = prompt_reader.transcript(prompt_reader.section(user, "Conversation")) or latest
    wants_quality = ASKS_SCORE in call.system
    extra = {key: about for key, about in EXTRA.findall(call.system) if key not in STANDARD}
    quality = rate_quality(messages) if wants_quality else None
    return {"facts": observe_facts(latest, known=known, messages=messages, extra=extra), "quality": quality}


def observe_facts(
    latest: list[Line], *, known: dict[str, str], messages: list[Line], extra: dict[str, str]
) -> list[dict[str, Any]]:
    """New facts in the customer's latest messages."""
    facts: dict[str, dict[str, Any]] = {}
    for at, line in enumerate(latest):
        if line.role != "customer":
            continue
        question = _question_before(line, latest[:at], messages)
        for field, found, is_stated in _facts_of(line.content, question=question, extra=extra):
            if not _is_known(field, found.value, known):
                facts[field] = {
                    "quote": found.quote,
                    "field": field,
                    "value": found.value,
                    "confidence": "stated" if is_stated else "inferred",
                }
    return list(facts.values())


def _question_before(line: Line, earlier: list[Line], messages: list[Line]) -> str:
    """The agent's words that the customer's line answers."""
    asked = last_of(earlier, "agent")
    if asked:
        return asked
    places = [i for i, one in enumerate(messages) if one == line]
    return last_of(messages[: places[-1]], "agent") if places else ""


def _facts_of(text: str, *, question: str, extra: dict[str, str]) -> list[tuple[str, Entity, bool]]:
    found: list[tuple[str, Entity, bool]] = []
    name = find_name(text, asked=bool(NAME_QUESTION.search(_last_question(question))))
    for field, value in (("name", name), ("phone", find_phone(text)), ("email", find_email(text))):
        if value:
            found.append((field, value, True))
    language = language_of(text)
    if language:
        found.append(("language", Entity(language, text.strip().splitlines()[0][:80]), False))
    found += _opt_ins(text, question)
    found += [(key, value, True) for key, about in extra.items() if (value := find_extra(key, about, text))]
    return found


def _last_question(text: str) -> str:
    questions = [s for s in re.findall(r"[^.!?]+[.!?]?", text) if "?" in s]
    return questions[-1] if questions else text


def _opt_ins(text: str, question: str) -> list[tuple[str, Entity, bool]]:
    found = []
    for field, noun in CHANNELS.items():
        if field != RECORDING and re.search(rf"\b{CHANNELS[RECORDING]}\b", f"{question} {text}", re.IGNORECASE):
            # "Please don't record this call" refuses no calls.
            continue
        said = _stated(text, noun)
        answered = None if said else _answered(text, question, noun)
        if said or answered:
            found.append((field, said or answered or Entity("", ""), True))
    return found


def _stated(text: str, noun: str) -> Entity | None:
    refused = re.search(rf"\b{REFUSAL}(?:\w+ )?{noun}\b(?: me)?", text, re.IGNORECASE)
    if refused:
        return Entity("false", refused[0])
    agreed = re.search(
        rf"\b(?:you (?:can|may)|happy for you to|please(?: do)?|feel free to|fine to|okay to|i(?:'d|"
        rf" would) (?:like|love)(?: to (?:get|receive))?(?: an?)?|i agree to|go ahead and) (?:\w+ "
        rf")?{noun}\b(?: me)?",
        text,
        re.IGNORECASE,
    )
    return Entity("true", agreed[0]) if agreed else None


def _answered(text: str, question: str, noun: str) -> Entity | None:
    """A yes or no to "May I text you…?"."""
    asked = _last_question(question)
    if (
        "?" not in asked
        or not re.search(rf"\b{noun}\b", asked, re.IGNORECASE)
        or re.search(r"\b(?:which|what|your)\b.{0,20}\b(?:number|address)\b", asked, re.IGNORECASE)
    ):
        return None
    for pattern, value in ((NO, "false"), (YES, "true")):
        match = pattern.search(text)
        if match:
            return Entity(value, match[0].strip())
    return None


def find_extra(key: str, about: str, text: str) -> Entity | None:
    """A value for a field of the project's own, by what its key and description speak of."""
    subject = f"{key} {about}".lower().replace("_", " ")
    finders = (
        (r"allerg|diet|intoleran|vegan|food", find_diet),
        (r"party|guests|people|persons|how many|covers|group size|number of", find_party),
        (r"\btime\b|hour|o'clock", find_time),
        (r"\bdate\b|\bday\b|when", find_day),
        (r"phone|mobile", find_phone),
        (r"e-?mail", find_email),
    )
    for pattern, finder in finders:
        if re.search(pattern, subject):
            return finder(text)
    return _by_words(about, text)


def _by_words(about: str, text: str) -> Entity | None:
    """Customer sentence that contains an example of the description ("birthday, anniversary…")."""
    words = {
        w
        for w in re.findall(r"[a-z]{4,}", about.lower())
        if w
        not in (
            "customer",
            "guest",
            "wants",
            "such",
            "like",
            "whether",
            "what",
            "their",
            "this",
            "that",
            "which",
            "where",
        )
    }
    for sentence in re.findall(r"[^.!?\n]+", text):
        said = next(
            (w for w in re.findall(r"[\w'-]+", sentence) if w.lower().rstrip("s") in {x.rstrip("s") for x in words}),
            None,
        )
        if said:
            return Entity(said, sentence.strip())
    return None


def _is_known(field: str, value: str, known: dict[str, str]) -> bool:
    if field == "phone":
        old, new = (re.sub(r"\D", "", number).lstrip("0") for number in (known.get(field, ""), value))
        return bool(old) and (old.endswith(new) or new.endswith(old))
    return known.get(field, "").strip().lower() == value.strip().lower()


def rate_quality(messages: list[Line]) -> dict[str, Any]:
    """Quality score from 1 to 10 with its reason."""
    said = [line.content for line in messages if line.role == "customer"]
    agent = [line.content for line in messages if line.role == "agent"]
    angry = [match[0] for text in said for match in FRUSTRATION.finditer(text)]
    repeated = _repeats(said)
    unanswered = sum(bool(re.search(r"don't know|can't help|not sure|unable to", text)) for text in agent)
    shouting = sum(text.isupper() and len(text) > 8 for text in said)
    happy = sum(bool(DELIGHT.search(text)) for text in said) if not angry else 0
    score = 7 + min(2, happy) - 3 * min(2, len(angry)) - 2 * min(2, repeated) - min(2, unanswered) - min(1, shouting)
    return {"reason": _reason(angry, repeated, unanswered, shouting), "score": max(1, min(10, score))}


def _repeats(said: list[str]) -> int:
    """Number of near-duplicate customer messages."""
    bags = [frozenset(re.findall(r"\w{3,}", text.lower())) for text in said]
    return sum(
        1
        for i, bag in enumerate(bags)
        for other in bags[:i]
        if len(bag) > 2 and len(bag & other) / len(bag | other) > 0.6
    )


def _reason(angry: list[str], repeated: int, unanswered: int, shouting: int) -> str:
    parts = []
    if angry:
        parts.append(f"the customer is frustrated (“{angry[-1]}”)")
    if repeated:
        parts.append("the customer had to repeat themselves")
    if unanswered:
        parts.append("a question stayed without an answer")
    if shouting:
        parts.append("the customer is shouting")
    text = ", and ".join(parts) if parts else "the conversation moves forward and nothing is unanswered"
    return text[0].upper() + text[1:] + "."
