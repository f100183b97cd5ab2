"""Results and messages that have just come in, in spoken form."""

from __future__ import annotations

import json
import re
from typing import Any

from offline_model.agent_notes import without_notes
from offline_model.phrases import day_word, phrase
from offline_model.tool_choice import without_instructions

FREE = re.compile(
    r"^(?P<day>\w+day) (?P<date>\d+ \w+) at (?P<time>\d{2}:\d{2}): a table for (?P<party>\d+) is free\."
    r"(?: Also free: (?P<others>[\d:, ]+)\.)?$"
)
BOOKED = re.compile(
    r"^Booked: a table for (?P<party>\d+) on (?P<day>\w+day) (?P<date>\d+ \w+) at (?P<time>\d{2}:\d{2}),.* code (?P<code>\w+)\.$"
)

# A provider's number for an error, which says nothing to a customer.
ERROR_CODE = re.compile(r" \((?:Twilio|WhatsApp|Telegram|Meta) \d+\)")
THE_CUSTOMERS = re.compile(r"\b([Tt])he customer's\b")
# Words of failures between two servers, or at a limit, which tell a customer nothing.
TECHNICAL = re.compile(
    r"\b(?:endpoint|host name|certificate|private network|localhost|URL|[Pp]ort \d+|did not answer within|"
    r"closed the connection|could not be reached|of this kind went)\b"
)
NOT_DONE = re.compile(r"^\s*[\w.-]+ was not done:")
NOT_KNOWN = re.compile(r"^\s*It is not known whether what was promised\b")
REFUSED = re.compile(r"Not done: the customer has said that they don't want\b")


def spoken_result(line: str, *, language: str = "en") -> str:
    """Urgent message in spoken form: without tool names, error codes and notes to the agent, JSON as a sentence; may be
    empty.
    """
    if REFUSED.search(line):
        return phrase("was_refused", language)
    if NOT_KNOWN.match(line):
        return phrase("not_known", language)
    if NOT_DONE.match(line) and TECHNICAL.search(line):
        return phrase("was_not_done", language)
    text = NOT_DONE.sub("That did not work:", line)
    text = re.sub(r"^\s*[\w.-]*(?:_tool|result|Result)\b[\w ]*:\s*", "", text)
    text = without_instructions(re.sub(r" \(“[^”]*”\)", "", ERROR_CODE.sub("", text)))
    text = THE_CUSTOMERS.sub(lambda found: "Your" if found[1] == "T" else "your", text)
    data = _json_in(text)
    text = _sentence_of(data) if isinstance(data, dict) else without_notes(text)
    if not text.strip():
        return ""
    text = text[:1].upper() + text[1:]
    finished = text if text.endswith((".", "!", "?")) else f"{text}."
    return finished if language == "en" else _translated(finished, language)


def _translated(text: str, language: str) -> str:
    """A result of the booking book in the customer's language; any other text as it is."""
    found = FREE.match(text) or BOOKED.match(text)
    if found is None:
        return text
    party = phrase("for", language, party=found["party"])
    day = day_word(found["day"], language)
    if found.re is BOOKED:
        return phrase("booked", language, day=day, time=found["time"], party=party, code=found["code"])
    others = phrase("free_too", language, times=found["others"]) if found["others"] else ""
    return f"{phrase('free', language, day=day, time=found['time'], party=party)} {others}".strip()


def _json_in(text: str) -> Any:
    start = text.find("{")
    if start < 0:
        return None
    try:
        return json.loads(text[start : text.rfind("}") + 1])
    except ValueError:
        return None


def _sentence_of(data: dict[str, Any]) -> str:
    if data.get("available") is True:
        return "Good news, that is free"
    if data.get("available") is False:
        offered = _offered(data.get("alternatives") or data.get("slots") or [])
        return f"That time is full, but {offered} free" if offered else "That time is full"
    for key in ("message", "text", "summary", "result", "status"):
        if isinstance(data.get(key), str):
            return without_notes(str(data[key]))
    flat = {key: value for key, value in data.items() if not isinstance(value, dict | list)}
    inner = next((value for value in data.values() if isinstance(value, dict)), {})
    if not flat and inner:
        return _sentence_of(inner)
    return ", ".join(f"{key.replace('_', ' ')}: {value}" for key, value in flat.items())


def _offered(other: Any) -> str:
    """ "19:00 is", "19:00 and 21:00 are"."""
    times = [str(one) for one in (other if isinstance(other, list) else [other])][:3]
    if not times:
        return ""
    return f"{times[0]} is" if len(times) == 1 else f"{', '.join(times[:-1])} and {times[-1]} are"
