from __future__ import annotations

from dataclasses import replace
from typing import Any

from conversations.models import PersonaField, Turn
from tests.conversations.conftest import begin, talk, worker
from tests.conversations.pipeline.conftest import last_prompt
from tests.conversations.promises.conftest import Desk, desk

__all__ = ["begin", "desk", "last_prompt", "talk", "worker"]

AFTER_REPLY = ("reply", "observer", "thoughts", "tool_caller")
VISIT = [
    {"key": "date", "description": "the day", "scope": "conversation"},
    {"key": "time", "description": "the time", "scope": "conversation"},
    {"key": "guests", "description": "number of guests", "scope": "conversation"},
    {"key": "diet", "description": "allergies and diets", "scope": "customer"},
]


def exchange(desk: Desk, words: str, *, reply: str = "Very well.", **facts: str) -> Turn:
    """A customer's message with its reply and every flow after it, run in this process. The observer reads `facts`."""
    desk.model.script("reply", text=reply)
    read = [{"quote": words, "field": key, "value": value, "confidence": "stated"} for key, value in facts.items()]
    desk.model.script("observer", json={"facts": read, "quality": None})
    turn = desk.talk.say(words)
    desk.run(*AFTER_REPLY)
    return turn


def later(desk: Desk, *, external_id: str = "guest") -> Desk:
    """The desk in another conversation, by default of the same customer."""
    return replace(desk, talk=begin(desk.tenant, external_id=external_id))


def section(prompt: str, tag: str) -> str:
    """The body of a section of a prompt; empty if it has none."""
    return prompt.partition(f"<{tag}>\n")[2].partition(f"</{tag}>")[0]


def rows(desk: Desk) -> list[dict[str, Any]]:
    with desk.tenant.tx():
        return list(PersonaField.objects.order_by("key").values("key", "value", "conversation_id"))
