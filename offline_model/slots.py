"""Slot filling: customer and booking details from known facts and messages."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from offline_model.entities import (
    DAY_NAMES,
    NAME_QUESTION,
    WEEKDAYS,
    find_day,
    find_diet,
    find_email,
    find_name,
    find_party,
    find_phone,
    find_time,
)
from offline_model.prompt_reader import Line
from offline_model.wordlist import listed

TIME_QUESTION = re.compile(r"\b(?:what time|which time|at what|time\b|when|hour)", re.IGNORECASE)
PARTY_QUESTION = re.compile(r"\b(?:how many|party|guests|people|number of)\b", re.IGNORECASE)
FIELD_WORDS: tuple[tuple[str, str], ...] = (
    (
        "phone",
        (
            r"\b(?:phone|number (?:can|to|we)|mobile|reach you|telephone|telefon\w*|numero di telefono|"
            r"numéro|teléfono)\b"
        ),
    ),
    ("name", r"\b(?:name|nome|namen|nom|nombre)\b"),
    ("email", r"\be-?mail\b"),
    ("date", r"\b(?:day|date|when|giorno|tag|jour|día|quando|wann)\b"),
    ("time", r"\b(?:time|hour|when|ora|uhrzeit|heure|hora|quando|wann|a che ora)\b"),
    (
        "party_size",
        (
            r"\b(?:how many|guests|people|party|in quanti|persone|personen|personnes|personas|wie viele|"
            r"combien|cuántas)\b"
        ),
    ),
    (
        "problem",
        (
            r"\bwhat happened\b|\bwhat went wrong\b|\bproblem\b|\bcosa è successo\b|\bist passiert\b|"
            r"\bs'est-il passé\b|\bha pasado\b"
        ),
    ),
    ("change", r"\bwhat (?:should|would you like to) (?:be )?change|\bshould (?:I|it) (?:be )?cancel"),
)


@dataclass
class Slots:
    """Field values by key: phone, name, email, date, time, party_size, diet, …"""

    values: dict[str, str] = field(default_factory=dict)
    declined: set[str] = field(default_factory=set)
    """Fields that the customer declined, or was asked for too often."""

    def get(self, key: str) -> str:
        return self.values.get(_canonical(key), "")

    @property
    def first_name(self) -> str:
        return self.get("name").split(" ")[0]

    def missing(self, fields: tuple[str, ...] | list[str]) -> list[str]:
        return [name for name in fields if not self.get(name) and _canonical(name) not in self.declined]


PATIENCE = 2
"""Maximum number of times a field is asked for."""
REFUSING = re.compile(
    r"\b(?:rather not|prefer not|don't want to (?:give|say|share)|no phone|don't have (?:one|"
    r"a phone|an? e-?mail)|won't give)\b",
    re.IGNORECASE,
)
ALIASES = {
    "guests": "party_size",
    "party": "party_size",
    "number_of_guests": "party_size",
    "people": "party_size",
    "day": "date",
    "telephone": "phone",
    "phone_number": "phone",
    "full_name": "name",
    "e-mail": "email",
    "dietary": "diet",
    "allergies": "diet",
}


def _canonical(key: str) -> str:
    name = key.strip().lower().replace(" ", "_")
    return ALIASES.get(name, name)


def fill_slots(facts: dict[str, str], lines: list[Line]) -> Slots:
    """Fill slots from facts, then messages; the latest message wins for day, time and party size."""
    slots = Slots({_canonical(key): value for key, value in facts.items()})
    asked = ""
    times: Counter[str] = Counter()
    for line in lines:
        if line.role == "agent":
            asked = line.content
            times.update(asked_fields(asked))
        elif line.role == "customer":
            _learn(slots, line.content, asked)
            if REFUSING.search(line.content):
                slots.declined.update(asked_fields(asked))
    slots.declined.update(name for name, count in times.items() if count > PATIENCE)
    return slots


OFFERED = re.compile(
    # Not of "a table for 4 is free", which counts people.
    r"(?:^|[^\d:])(?<!for )(\d{1,2}(?:[:.]\d{2})?\s?(?:am|pm)?)(?: (?:on|at|for) [\w ]{1,20}?)? (?:is|"
    r"are|would be) (?:still |also )?(?:free|available|open)",
    re.IGNORECASE,
)
AGREEING = re.compile(
    r"^\W*(?:yes|yeah|yep|sure|please|ok|okay|perfect|great|fine|lovely|wonderful|s[iì]|ja|"
    r"oui|claro|that works|sounds good)\b",
    re.IGNORECASE,
)


CANCELLING = re.compile(
    r"(?<!don't )(?<!do not )\b(?:cancel(?! ?l?ation)\w*|disdire|annullare|storniere[nr]?|annuler|cancelar)\b",
    re.IGNORECASE,
)


def _learn(slots: Slots, text: str, asked: str) -> None:
    question = _questions(asked)
    offered = OFFERED.findall(asked)
    if len(offered) == 1 and AGREEING.search(text):
        slots.values["time"] = offered[0].strip()
    name = find_name(text, asked=bool(NAME_QUESTION.search(question)))
    for key, found in (
        ("name", name),
        ("phone", find_phone(text)),
        ("email", find_email(text)),
        ("diet", find_diet(text)),
    ):
        if found and not slots.get(key):
            slots.values[key] = found.value
    for key, found in (("date", find_day(text)), ("time", find_time(text)), ("party_size", find_party(text))):
        if found:
            slots.values[key] = found.value
    if CANCELLING.search(text):
        slots.values.setdefault("change", "cancel")
    bare = re.fullmatch(
        r"\W*(?:(?:at|around|about|for|we are|just)\s+)?(\d{1,2}|two|three|four|five|six|seven|"
        r"eight|nine|ten)(?: please)?\W*",
        text,
        re.IGNORECASE,
    )
    if bare:
        key = (
            "party_size"
            if PARTY_QUESTION.search(question) and not TIME_QUESTION.search(question)
            else "time"
            if TIME_QUESTION.search(question)
            else ""
        )
        if key and not (key == "time" and find_time(text)):
            slots.values[key] = bare[1]
    if re.search(r"what happened|went wrong", question, re.IGNORECASE) and len(text) > 12:
        slots.values.setdefault("problem", text.strip())


def _questions(text: str) -> str:
    return " ".join(s for s in re.findall(r"[^.!?]+[.!?]?", text) if "?" in s) or text


def asked_fields(text: str) -> list[str]:
    """Fields that a reply of the agent asks for."""
    return _named_fields(" ".join(s for s in re.findall(r"[^.!?]+[.!?]?", text) if "?" in s))


def _named_fields(text: str) -> list[str]:
    found = [name for name, pattern in FIELD_WORDS if re.search(pattern, text, re.IGNORECASE)]
    return ["problem"] if "problem" in found else found


def requested_fields(text: str) -> list[str]:
    """Fields that a step asks for in its text, for steps without `collects`."""
    if not re.search(r"\bask\b", text, re.IGNORECASE):
        return []
    return _named_fields(text)


def spoken_day(day: str) -> str:
    """ "friday" as "Friday"; a relative day as it is."""
    key = re.sub(r"^(?:this|on)\s+", "", day.strip(), flags=re.IGNORECASE)
    low = key.lower().removesuffix("s") if key.lower().removesuffix("s") in DAY_NAMES else key.lower()
    return WEEKDAYS[DAY_NAMES[low]].title() if low in DAY_NAMES else key


def spoken_time(time: str) -> str:
    """ "19:00", "7pm" and a dinner's "7" as "7 PM"."""
    match = re.fullmatch(
        r"(\d{1,2})(?:[:.h](\d{2}))?\s*(am|pm|a\.m\.|p\.m\.|uhr|h|heures?|o'clock)?", time.strip().lower()
    )
    if not match:
        return {"noon": "noon", "midday": "noon"}.get(time.lower(), _number_time(time))
    hour, minute = int(match[1]), match[2] or "00"
    half = (match[3] or "").replace(".", "")
    if half not in ("am", "pm"):
        half = "pm" if hour >= 12 or hour < 11 else "am"
    return f"{(hour - 1) % 12 + 1}{'' if minute == '00' else ':' + minute} {half.upper()}"


def _number_time(time: str) -> str:
    words = listed("one two three four five six seven eight nine ten eleven twelve")
    return f"{words.index(time.lower()) + 1} PM" if time.lower() in words else time


def clock_time(time: str) -> str:
    """A time of day as HH:MM; as it is when it can't be read."""
    match = re.fullmatch(r"(\d{1,2})(?::(\d{2}))? (AM|PM)", spoken_time(time))
    if not match:
        return time
    hour = int(match[1]) % 12 + (12 if match[3] == "PM" else 0)
    return f"{hour:02d}:{match[2] or '00'}"
