"""Summary skill: the gist of each message, and facts stated by the customer."""

from __future__ import annotations

import re
from typing import Any

from offline_model import prompt_reader
from offline_model.prompt_reader import Line
from offline_model.slots import fill_slots
from offline_model.wire import ChatCall

LONGEST_GIST = 90
LONGEST_TEXT = 1_200
# "my order number is AB-1234"
OWN = re.compile(r"\bmy ([a-z][a-z -]{1,28}?) (?:is|was) ([^.,;!?\n]{1,80})", re.IGNORECASE)


def summarize(call: ChatCall) -> dict[str, Any]:
    """The summary, in the shape of the skill's output."""
    described, earlier = prompt_reader.summary(call.last_user)
    lines = prompt_reader.transcript(prompt_reader.section(call.last_user, "Conversation"))
    values = {**earlier, **_stated(lines), **fill_slots(earlier, lines).values}
    changed = {field: value for field, value in values.items() if value and earlier.get(field) != value}
    return {
        "facts": [{"field": field, "value": value} for field, value in changed.items()],
        "text": " ".join(part for part in (described, *map(_gist, lines)) if part)[-LONGEST_TEXT:].strip(),
    }


def _stated(lines: list[Line]) -> dict[str, str]:
    found = (match for line in lines if line.role == "customer" for match in OWN.finditer(line.content))
    return {re.sub(r"\W+", "_", match[1].strip().lower()): match[2].strip() for match in found}


def _gist(line: Line) -> str:
    """Speaker and first sentence of a message."""
    first = re.split(r"(?<=[.!?])\s", line.content.strip(), maxsplit=1)[0]
    return f"The {line.role} said “{first[:LONGEST_GIST].rstrip()}”."
