"""Sections of the agent's settings, in tab order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from console.agent.form_fields import FormFields
from console.agent.forms import abilities, behaviour, business, hours, models, rows, scenarios
from console.agent.nested_form_data import Node
from projects.models.agent_config import AgentConfig

Read = Callable[[Node], dict[str, Any]]
Show = Callable[[dict[str, Any], FormFields], dict[str, Any]]


def no_problems(changes: dict[str, Any]) -> dict[str, str]:
    """Default check: none beyond the document's own validation."""
    return {}


@dataclass(frozen=True)
class Section:
    """A form over some fields of the document. `problems` checks what the document's validation can't."""

    slug: str
    title: str
    lead: str
    read: Read
    show: Show
    problems: Callable[[dict[str, Any]], dict[str, str]] = no_problems
    has_budget: bool = False

    @property
    def template(self) -> str:
        return f"agent/sections/{self.slug}.html"


BUSINESS = Section(
    "business",
    "Business",
    "Who the agent is, and facts about your business. Included in every reply.",
    business.read,
    business.show,
    has_budget=True,
)
MODELS = Section(
    "models",
    "Models",
    "Choose a model for each task. Defaults are set by the server’s operator.",
    models.read,
    models.show,
)
HOURS = Section(
    "hours",
    "Hours",
    "Your opening hours. Intents and the agent’s answers follow them.",
    hours.read,
    hours.show,
    problems=hours.problems,
)
SECTIONS = (
    BUSINESS,
    Section(
        "scenarios",
        "Scenarios",
        "Conversation paths with numbered steps. Thoughts picks the scenario and the next step.",
        scenarios.read,
        scenarios.show,
        has_budget=True,
    ),
    Section(
        "procedures",
        "Procedures",
        "Instructions that apply in every scenario.",
        rows.procedures.read,
        rows.procedures.show,
        has_budget=True,
    ),
    Section(
        "intents",
        "Intents",
        "What customers ask for, and how to respond when you’re open or closed.",
        rows.intents.read,
        rows.intents.show,
        has_budget=True,
    ),
    HOURS,
    Section(
        "behaviour",
        "Behavior",
        "Newer messages, follow-ups and checks.",
        behaviour.read,
        behaviour.show,
        problems=behaviour.problems,
    ),
    Section(
        "abilities",
        "Abilities",
        "Tools the agent may use while it answers, and when it escalates.",
        abilities.read,
        abilities.show,
        has_budget=True,
    ),
    MODELS,
    Section(
        "fields",
        "Observed fields",
        "What the observer records about a customer besides name, phone, e-mail and language.",
        rows.observer_fields.read,
        rows.observer_fields.show,
    ),
)
# Tabs that don't edit the document.
OTHER_TABS = (
    ("todos", "Todos"),
    ("integrations", "Integrations"),
    ("attributes", "Attributes"),
    ("limits", "Limits"),
    ("history", "History"),
)


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """The document with defaults for fields that it predates."""
    defaults = AgentConfig(agent_name="-", business_name="-").model_dump(mode="json")
    return {**defaults, **document}
