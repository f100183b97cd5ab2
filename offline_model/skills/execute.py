"""Execute skill: runs an approved todo with the offered tools and reports the result."""

from __future__ import annotations

import re
from typing import Any

from offline_model import message_text
from offline_model.dates import date_of, read_now
from offline_model.language import language_of
from offline_model.phrases import salutation
from offline_model.prompt_reader import Line, bullets, facts, section, transcript
from offline_model.schema_fields import FieldFinder
from offline_model.schema_instance import instance_of
from offline_model.slots import fill_slots
from offline_model.tool_matching import stem
from offline_model.wire import Answer, ChatCall, Tool, ToolUse

OPENING = "You carry out one todo of "
PLAIN = frozenset({"send", "sends", "tool", "todo", "that", "this", "with", "from", "were", "have", "approved"})
SUBJECT = re.compile(r"\bsubject\b", re.IGNORECASE)
BODY = re.compile(r"\b(?:body|whole text|text message)\b", re.IGNORECASE)
LONGEST_SUBJECT = 80


def execute(call: ChatCall) -> Answer:
    """The next step: a call while nothing was called yet, else what became of it."""
    task = _Task(call)
    if call.answered_tools:
        return Answer(task.report())
    use = task.next_call()
    return Answer(tool_calls=(use,)) if use else Answer("None of my tools can do this, so nothing was done.")


class _Task:
    """Parsed todo prompt."""

    def __init__(self, call: ChatCall) -> None:
        user = call.last_user
        self._call = call
        self._words = section(user, "Todo")
        self._context = section(call.system, "BusinessContext")
        self._business = _between(call.system, OPENING, ", which a colleague")
        self._recipients = bullets(section(user, "Recipients"))
        self._now = read_now(section(user, "Now"))
        self._contact = facts(section(user, "Contact"))
        # True if the tool writes to a colleague.
        self._is_internal = False
        # The conversation fills gaps; the todo's own text comes last and wins.
        lines = transcript(section(user, "Conversation"))
        self._said = "\n".join(line.content for line in lines if line.role == "customer")
        slots = fill_slots(self._contact, [*lines, Line("customer", self._words)])
        self._finder = FieldFinder(slots=slots, newest=self._words, everything=f"{self._said}\n{self._words}")

    def next_call(self) -> ToolUse | None:
        """The tool that fits the todo's words best; the only one where there is no choice."""
        tools = sorted(self._call.tools, key=lambda tool: -self._fit(tool))
        if not tools or (len(tools) > 1 and self._fit(tools[0]) == 0):
            return None
        self._is_internal = "to" in tools[0].parameters.get("properties", {})
        arguments = instance_of(tools[0].parameters, fill=self._fill, only_found=True)
        return ToolUse(tools[0].name, arguments if isinstance(arguments, dict) else {})

    def report(self) -> str:
        """Tool results, one sentence each."""
        described = [text.strip() for role, text in self._call.messages if role == "tool"]
        return " ".join(one if one.endswith((".", "!", "?")) else f"{one}." for one in described if one)

    def _fit(self, tool: Tool) -> int:
        said = _stems(self._words)
        about = _stems(f"{tool.name.replace('_', ' ')} {tool.description}")
        return len(said & about) + (5 if self._names_recipient(tool) else 0)

    def _names_recipient(self, tool: Tool) -> bool:
        """True if the tool takes an address and the todo names an approved one."""
        words = self._words.lower()
        return "to" in tool.parameters.get("properties", {}) and any(one.lower() in words for one in self._recipients)

    def _fill(self, name: str, schema: dict[str, Any]) -> Any:
        if "properties" in schema:
            return None
        about = f"{name.replace('_', ' ')} {schema.get('description', '')}"
        if name == "to" and self._recipients:
            named = (one for one in self._recipients if one.lower() in self._words.lower())
            return next(named, self._recipients[0])
        if SUBJECT.search(about):
            return self._subject()
        if BODY.search(about):
            return self._message(schema)
        found = self._finder.find(name, schema)
        day = self._finder.slots.get("date")
        return date_of(day, now=self._now) if name == "date" and day else found

    def _message(self, schema: dict[str, Any]) -> str:
        """To a colleague the todo's own words; to the customer what they are to be told."""
        name = "" if self._is_internal else self._contact.get("name", "")
        greeting = f"{salutation(self._language)} {name}".strip()
        text = f"{greeting},\n\n{self._content()}\n\n{self._business}"
        return text[: schema.get("maxLength", len(text))]

    def _content(self) -> str:
        words = " ".join(self._words.split())
        if self._is_internal:
            return message_text.stated(words) or words
        return message_text.message(self._words, context=self._context, language=self._language)

    def _subject(self) -> str:
        words = " ".join(self._words.split())
        about = message_text.stated(words) or message_text.subject_of(words)
        sender = "" if self._is_internal else f"{self._business}: "
        return _cut(f"{sender}{about.rstrip('.')}", LONGEST_SUBJECT)

    @property
    def _language(self) -> str:
        """The language to write in: the customer's own, to a colleague the todo's."""
        if self._is_internal:
            return language_of(self._words) or "en"
        return self._contact.get("language") or language_of(self._said) or "en"


def _stems(text: str) -> set[str]:
    return {stem(word) for word in re.findall(r"[a-z]{3,}", text.lower()) if word not in PLAIN}


def _between(text: str, before: str, after: str) -> str:
    return text.partition(before)[2].partition(after)[0]


def _cut(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rsplit(' ', 1)[0]}…"
