"""Sections of the agent's settings, in tab order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from console.agent.form_fields import FormFields
from console.agent.forms import behaviour, business, escalation, hours, models, rows, scenarios
from console.agent.nested_form_data import Node
from projects.common.translation import lazy
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
    lazy("Business"),
    lazy("Who the agent is and what it knows about your business. Included in every reply."),
    business.read,
    business.show,
    has_budget=True,
)
MODELS = Section(
    "models",
    lazy("Models"),
    lazy("The server that runs your agent’s model, and the model for each task."),
    models.read,
    models.show,
    problems=models.problems,
)
HOURS = Section(
    "hours",
    lazy("Hours"),
    lazy("Your opening hours. Intents and replies depend on them."),
    hours.read,
    hours.show,
    problems=hours.problems,
)
SECTIONS = (
    BUSINESS,
    Section(
        "scenarios",
        lazy("Scenarios"),
        lazy(
            "Conversation paths with numbered steps. The agent picks the scenario and the next step as it plans ahead."
        ),
        scenarios.read,
        scenarios.show,
        has_budget=True,
    ),
    Section(
        "procedures",
        lazy("Procedures"),
        lazy("Instructions that apply in every scenario."),
        rows.procedures.read,
        rows.procedures.show,
        has_budget=True,
    ),
    Section(
        "intents",
        lazy("Intents"),
        lazy("What customers ask for, and how to respond when you’re open or closed."),
        rows.intents.read,
        rows.intents.show,
        has_budget=True,
    ),
    HOURS,
    Section(
        "behaviour",
        lazy("Behavior"),
        lazy("Interruptions, follow-ups and checks."),
        behaviour.read,
        behaviour.show,
        problems=behaviour.problems,
    ),
    Section(
        "escalation",
        lazy("Escalation"),
        lazy("When and how the agent brings in a person, and who must prove who they are."),
        escalation.read,
        escalation.show,
    ),
    MODELS,
    Section(
        "fields",
        lazy("Observed fields"),
        lazy("What the agent records about customers besides name, phone, e-mail and language."),
        rows.observer_fields.read,
        rows.observer_fields.show,
    ),
)
# Tabs that don't edit the document.
OTHER_TABS = (
    ("todos", lazy("Todos")),
    ("integrations", lazy("Integrations")),
    ("attributes", lazy("Attributes")),
    ("limits", lazy("Limits")),
    ("privacy", lazy("Privacy")),
    ("history", lazy("History")),
)


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """The document with defaults for fields that it predates."""
    defaults = AgentConfig(agent_name="-", business_name="-").model_dump(mode="json")
    return {**defaults, **document}
