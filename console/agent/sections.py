"""The sections of the agent's settings, in the order of their tabs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from console.agent.form_fields import Boxes
from console.agent.forms import abilities, behaviour, business, hours, models, rows, scenarios
from console.agent.nested_form_data import Node
from projects.models.agent_config import AgentConfig

Read = Callable[[Node], dict[str, Any]]
Show = Callable[[dict[str, Any], Boxes], dict[str, Any]]


def no_problems(changes: dict[str, Any]) -> dict[str, str]:
    """Most sections need no check but the document's own."""
    return {}


@dataclass(frozen=True)
class Section:
    """One form over some fields of the document. `problems` are those that the document can't know of."""

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
    "Who the agent is, and what is always true. It reads this before every reply.",
    business.read,
    business.show,
    has_budget=True,
)
MODELS = Section(
    "models",
    "Models",
    "One for each kind of work. The default is what the operator of this server set up.",
    models.read,
    models.show,
)
HOURS = Section(
    "hours",
    "Hours",
    "When you are open. The intents, and what the agent says of today, follow them.",
    hours.read,
    hours.show,
    problems=hours.problems,
)
SECTIONS = (
    BUSINESS,
    Section(
        "scenarios",
        "Scenarios",
        "Paths a conversation can take. Thoughts picks one, and says which step is next.",
        scenarios.read,
        scenarios.show,
        has_budget=True,
    ),
    Section(
        "procedures",
        "Procedures",
        "How things are done, in any scenario.",
        rows.procedures.read,
        rows.procedures.show,
        has_budget=True,
    ),
    Section(
        "intents",
        "Intents",
        "What a customer wants, and what happens then, while you are open and while you are closed.",
        rows.intents.read,
        rows.intents.show,
        has_budget=True,
    ),
    HOURS,
    Section(
        "behaviour",
        "Behaviour",
        "What happens when a customer writes again too soon, or not at all.",
        behaviour.read,
        behaviour.show,
        problems=behaviour.problems,
    ),
    Section(
        "abilities",
        "Abilities",
        "What the agent may do itself while it answers, and when it brings people in.",
        abilities.read,
        abilities.show,
        has_budget=True,
    ),
    MODELS,
    Section(
        "fields",
        "Observed fields",
        "What the observer notes about a customer, besides name, phone, e-mail and language.",
        rows.observer_fields.read,
        rows.observer_fields.show,
    ),
)
# Tabs that are no form over the document.
OTHER_TABS = (
    ("todos", "Todos"),
    ("integrations", "Integrations"),
    ("attributes", "Attributes"),
    ("history", "History"),
)


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the defaults of fields that it is too old to have."""
    defaults = AgentConfig(agent_name="-", business_name="-").model_dump(mode="json")
    return {**defaults, **document}
