"""How much of the prompt an agent's settings take, part by part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm.prompts import TEMPLATES

# The longest prompt that we want to send, in characters.
LIMIT = 25_000
NAMES = {
    "rules": "How it answers",
    "business_context": "Business context",
    "scenarios": "Scenarios",
    "procedures": "Procedures",
    "intents": "Intents, the longer variant",
}


@dataclass(frozen=True)
class Share:
    """One part of the prompt: its characters, and where its bar begins and how wide it is, in percent of the limit."""

    name: str
    characters: int
    x: float
    width: float

    @property
    def text(self) -> str:
        return f"{self.characters:,}"


@dataclass(frozen=True)
class PromptBudget:
    """The stable part of the reply's prompt, which stands before every conversation."""

    shares: list[Share]
    limit: int = LIMIT

    @property
    def total(self) -> int:
        return sum(share.characters for share in self.shares)

    @property
    def total_text(self) -> str:
        return f"{self.total:,}"

    @property
    def limit_text(self) -> str:
        return f"{self.limit:,}"

    @property
    def is_over(self) -> bool:
        return self.total > self.limit


def prompt_budget(document: Mapping[str, Any]) -> PromptBudget:
    """The shares of a valid document."""
    sizes = {
        "rules": len((TEMPLATES / "reply" / "system.md").read_text()) + len(document.get("style", "")),
        "business_context": len(document.get("business_context", "")),
        "scenarios": sum(_scenario(scenario) for scenario in document.get("scenarios", [])),
        "procedures": sum(_line(item["title"], item["text"]) for item in document.get("procedures", [])),
        "intents": max(_variant(document, "working_hours"), _variant(document, "non_working_hours")),
    }
    shares: list[Share] = []
    x = 0.0
    for part, size in sizes.items():
        width = min(100 * size / LIMIT, 100 - x)
        shares.append(Share(NAMES[part], size, round(x, 2), round(width, 2)))
        x += width
    return PromptBudget(shares)


def _scenario(scenario: Mapping[str, Any]) -> int:
    return _line("Scenario 1", scenario["title"]) + sum(_line("1.1", step["text"]) for step in scenario["steps"])


def _variant(document: Mapping[str, Any], name: str) -> int:
    return sum(_line(intent["name"], intent[name]) for intent in document.get("intents", []))


def _line(title: str, text: str) -> int:
    """A line as the prompt writes it: a dash, the title, a colon, the text."""
    return len(title) + len(text) + 5
