"""Ready-made businesses that a newcomer begins with, and edits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from django.db import transaction

from projects.agents.services import create_organization, create_project
from projects.models import Project, User
from projects.models.agent_config import AgentConfig
from projects.models.seeds import plant_seeds
from projects.records.attributes import resolve_attributes, set_attribute, start_attributes
from tenancy.scope import tenant_tx

FOLDER = Path(__file__).parent
NAMES = ("restaurant", "clinic", "shop", "agency")
BUSINESS = "{business}"
HOURS_CONFIRMED = "opening_hours_confirmed"


@dataclass(frozen=True)
class Locale:
    """Where the business is: an IANA time zone, and the two letters of a country for phone numbers."""

    timezone: str
    region: str


@dataclass(frozen=True)
class Starter:
    """One template: what its card says, its agent's settings with BUSINESS for the name, its switches, and its `seeds`.

    `made_up` are the words of its business context that are true of nobody: addresses, numbers, names, offers and prices.
    """

    name: str
    title: str
    line: str
    icon: str
    hears: str
    says: str
    made_up: tuple[str, ...] = field(repr=False)
    config: dict[str, Any] = field(repr=False)
    attributes: dict[str, Any] = field(repr=False)
    seeds: dict[str, Any] = field(repr=False)

    def config_for(self, business: str, *, locale: Locale) -> AgentConfig:
        """The settings for a business. Raises pydantic.ValidationError for a time zone or region that doesn't exist."""
        document = _named(self.config, business=business)
        document |= {"business_name": business, "timezone": locale.timezone, "region": locale.region}
        return AgentConfig.model_validate(document)


def left_of_example(business_context: str) -> list[str]:
    """What a template made up and still stands in what the agent knows of a business, in the template's order.

    However much around it was written anew, each of them is told to whoever asks.
    """
    known = _plain(business_context)
    return [fact for one in starters().values() for fact in one.made_up if _plain(fact) in known]


def are_example_hours(project: Project, hours: Mapping[str, Any]) -> bool:
    """Whether these opening hours are a template's, and nobody has said yet that they are the business's as well."""
    return not are_hours_confirmed(project) and any(hours == one.config["hours"] for one in starters().values())


def confirm_hours(project: Project) -> bool:
    """A person has saved the opening hours: they are the business's own, even where they are what its template says.

    False where that was known already. Inside a transaction; two at once both say so.
    """
    if are_hours_confirmed(project):
        return False
    set_attribute(project, HOURS_CONFIRMED, True)
    return True


def are_hours_confirmed(project: Project) -> bool:
    confirmed = resolve_attributes(project).get(HOURS_CONFIRMED)
    return confirmed is not None and bool(confirmed.value)


@cache
def starters() -> dict[str, Starter]:
    """Every template by name, in the order of their cards."""
    return {name: _read(name) for name in NAMES}


def start_business(business: str, *, starter: Starter, owner: User, locale: Locale) -> Project:
    """A new organization with its first project, ready to be talked to. One transaction."""
    config = starter.config_for(business, locale=locale)
    with transaction.atomic(), tenant_tx(create_organization(business, owner=owner).pk):
        project = create_project(business, config=config, author=owner)
        start_attributes(project, starter.attributes)
        plant_seeds(project, starter.seeds)
    return project


def _read(name: str) -> Starter:
    document = json.loads((FOLDER / f"{name}.json").read_text())
    card, attributes = document.pop("card"), document.pop("attributes")
    seeds, made_up = document.pop("seeds", {}), tuple(document.pop("made_up"))
    return Starter(name=name, config=document, attributes=attributes, seeds=seeds, made_up=made_up, **card)


def _plain(text: str) -> str:
    """Without what a hand changes in passing: breaks, spaces, capitals."""
    return " ".join(text.split()).casefold()


def _named(value: Any, *, business: str) -> Any:
    """The value with the name of the business wherever BUSINESS stands."""
    if isinstance(value, str):
        return value.replace(BUSINESS, business)
    if isinstance(value, list):
        return [_named(one, business=business) for one in value]
    if isinstance(value, dict):
        return {key: _named(one, business=business) for key, one in value.items()}
    return value
