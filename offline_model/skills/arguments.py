"""Arguments skill: fills a tool's fields from the conversation."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from offline_model.dates import date_of, read_now
from offline_model.entities import find_day
from offline_model.language import language_of
from offline_model.message_text import information
from offline_model.prompt_reader import Line, facts, last_of, section, transcript
from offline_model.schema_fields import FieldFinder
from offline_model.schema_instance import instance_of
from offline_model.slots import clock_time, fill_slots
from offline_model.wire import ChatCall

FOR_CUSTOMER = re.compile(r"customer reads|text message|e-?mail'?s", re.IGNORECASE)
SUBJECT = re.compile(r"\b(?:subject|headline)\b", re.IGNORECASE)
AGAIN = re.compile(
    r"\b(?:again|once more|re-?send|another (?:one|text|e-?mail)|(?:did(?:n't|n’t| not)|never|have(?:n't| not)) "
    r"(?:get|got|receive|received|arrive|arrived|come|came))\b"
    r"|\b(?:can|could|would|will) you (?:please )?(?:also )?(?:send|text|e-?mail|message|book|order|file|open|notify)\b"
    r"|\bplease (?:also )?(?:send|text|e-?mail|message|book|order|file|open|notify)\b",
    re.IGNORECASE,
)
WANTS_NUMBER = re.compile(r"\b(?:number|amount|price|total|count|how many|minutes|digits)\b", re.IGNORECASE)
IS_DAY = re.compile(r"^(?!.*\b(?:time|hour)\b).*\b(?:date|day)\b", re.IGNORECASE | re.DOTALL)
LONGEST_TEXT = 300
# The way of a message, which isn't its topic.
WAY = re.compile(
    r"\b(?:e-?mail|text|message|sms) (?:me|us|it|you)\b|\bby (?:e-?mail|text|sms)\b|\S+@\S+", re.IGNORECASE
)
SENTENCE = re.compile(r"[^\s][^.!?]*(?:[.!?](?!\s|$)[^.!?]*)*[.!?]*")
WITH_WHOM = re.compile(r"\bwith ((?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'-]+(?: [A-Z][\w'-]+)?)")


@dataclass
class Arguments:
    """Parsed arguments prompt."""

    system: str
    user: str
    lines: list[Line] = field(default_factory=list)

    @property
    def business(self) -> str:
        found = re.search(r"the agent of (.+?), and fill in", self.system)
        return found[1] if found else ""

    @property
    def context(self) -> str:
        return section(self.system, "BusinessContext")

    @property
    def now(self) -> datetime | None:
        return read_now(section(self.user, "Now") or self.user)

    @property
    def asked(self) -> str:
        """The customer's newest words."""
        return last_of(self.lines, "customer")

    @property
    def material(self) -> str:
        return section(self.user, "Input")


def fill_arguments(call: ChatCall) -> Any:
    """A valid instance of the request's schema; what nobody said is left out where it may be."""
    user = call.last_user
    said = transcript(section(user, "Conversation"))
    arguments = Arguments(call.system, user, said)
    slots = fill_slots(facts(section(user, "KnownFacts")), said)
    everything = " ".join(line.content for line in said) or arguments.material
    finder = FieldFinder(slots=slots, newest=arguments.asked or arguments.material, everything=everything)
    schema = call.schema or {"type": "object"}
    return instance_of(schema, fill=_Filler(arguments, finder).find, only_found=True)


class _Filler:
    """Field values: a few reserved fields, the rest by schema."""

    def __init__(self, arguments: Arguments, finder: FieldFinder) -> None:
        self._arguments = arguments
        self._finder = finder

    def find(self, name: str, schema: dict[str, Any]) -> Any:
        about = f"{name.replace('_', ' ')} {schema.get('description', '')}"
        if name == "asked_again":
            return bool(AGAIN.search(self._arguments.asked))
        if name == "quote":
            return self._arguments.asked
        if name == "with_whom":
            return self._with_whom()
        if name == "value" and self._arguments.material:
            return self._made_of_input()
        if FOR_CUSTOMER.search(about):
            return self._message(about, schema)
        if "properties" in schema:
            return None
        return self._placed(about, name, schema)

    def _with_whom(self) -> str | None:
        """The person that the customer asked for by name."""
        said = " ".join(line.content for line in self._arguments.lines if line.role == "customer")
        asked = WITH_WHOM.search(said)
        return asked[1] if asked else None

    def _placed(self, about: str, name: str, schema: dict[str, Any]) -> Any:
        """A field's value; days and times in ISO form."""
        found = self._finder.find(name, schema)
        if IS_DAY.search(about) and schema.get("type") in (None, "string") and schema.get("format") != "date-time":
            day = self._finder.slots.get("date") or getattr(find_day(self._finder.everything), "value", "")
            return date_of(day, now=self._arguments.now) if day else found
        if schema.get("format") == "date-time" or name in ("starts_at", "start"):
            return self._moment() or found
        return found

    def _moment(self) -> str:
        slots = self._finder.slots
        day, time = slots.get("date"), slots.get("time")
        return f"{date_of(day, now=self._arguments.now)}T{clock_time(time)}:00" if day and time else ""

    def _message(self, about: str, schema: dict[str, Any]) -> str:
        """A text to the customer: the information itself, as the business says it."""
        if SUBJECT.search(about):
            return f"{self._arguments.business}: your information"[:80]
        text = f"{self._arguments.business}: {self._information()}".removeprefix(": ")
        return text[: min(LONGEST_TEXT, schema.get("maxLength", LONGEST_TEXT))]

    def _information(self) -> str:
        arguments = self._arguments
        wanted = WAY.sub(" ", f"{arguments.asked} {section(arguments.user, 'AgentsPromise')}")
        known = information(arguments.context, wanted, language_of(arguments.asked) or "en")
        return known or self._last_statement() or last_of(arguments.lines, "agent")

    def _last_statement(self) -> str:
        """Last statement of the agent before its promise, without questions."""
        described = (line.content for line in reversed(self._arguments.lines[:-1]) if line.role == "agent")
        stated = (" ".join(part for part in SENTENCE.findall(words) if not part.endswith("?")) for words in described)
        return next(filter(None, stated), "")

    def _made_of_input(self) -> str:
        """Number requested by the task, else the first sentence of the input."""
        material, task = self._arguments.material, section(self._arguments.user, "Task")
        number = re.search(r"-?\d+(?:[.,]\d+)?", material)
        if number and WANTS_NUMBER.search(task):
            return number[0]
        return re.split(r"(?<=[.!?])\s", material.strip())[0][:LONGEST_TEXT]
