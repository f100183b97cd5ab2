"""Generic structured output for schemas without a skill of their own."""

from __future__ import annotations

import re
from typing import Any

from offline_model.prompt_reader import Line, facts, last_of, section, transcript
from offline_model.schema_fields import FieldFinder
from offline_model.schema_instance import instance_of
from offline_model.slots import fill_slots
from offline_model.wire import ChatCall

SECTIONS = ("Conversation", "LatestExchange", "LatestMessages")
FACTS = ("KnownFacts", "Customer", "Facts")


def fill_instance(call: ChatCall) -> Any:
    """A valid instance of the request's schema, with the values the prompt holds."""
    finder = _finder(call)
    return instance_of(call.schema or {"type": "object"}, fill=finder.find)


def _finder(call: ChatCall) -> FieldFinder:
    user = call.last_user
    lines = next((found for tag in SECTIONS if (found := transcript(section(user, tag)))), [])
    answer = section(user, "LatestConvoAgentAnswer")
    if answer:
        lines = [*lines, Line("agent", answer)]
    known = next((read for tag in FACTS if (read := facts(section(user, tag)))), {})
    plain = re.sub(r"</?[A-Za-z][^>\n]*>", " ", user)
    said = last_of(lines, "customer") or answer or plain
    everything = " ".join(line.content for line in lines) or plain
    return FieldFinder(
        slots=fill_slots(known, lines or [Line("customer", plain)]), newest=said.strip(), everything=everything
    )
