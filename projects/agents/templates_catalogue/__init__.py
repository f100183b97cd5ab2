"""Business templates: ready-made agents for new organizations."""

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
NAMES = ("restaurant", "clinic", "shop", "agency", "other")
# The template of a business that none of the others fits, described by its owner.
OTHER = "other"
BUSINESS = "{business}"
HOURS_CONFIRMED = "opening_hours_confirmed"


@dataclass(frozen=True)
class Locale:
    """The IANA time zone of a business, and its ISO country code for phone numbers."""

    timezone: str
    region: str


@dataclass(frozen=True)
class BusinessTemplate:
    """A template: its card, its agent settings with BUSINESS as the placeholder for the name, its attributes and its
    `seeds`.

    `made_up` lists the invented facts of its business context: addresses, numbers, names, offers and prices.
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

    def config_for(self, business: str, *, locale: Locale, about: str = "") -> AgentConfig:
        """The settings for a business, described by `about` in place of the template's example.

        Raises pydantic.ValidationError for an unknown time zone or region.
        """
        document = _fill_in_name(self.config, business=business)
        if about:
            document["business_context"] = about
        document |= {"business_name": business, "timezone": locale.timezone, "region": locale.region}
        return AgentConfig.model_validate(document)


def leftover_examples(business_context: str) -> list[str]:
    """The invented facts of any template that a business context still contains, in the template's order.

    The agent tells these to customers, however much of the text around them was rewritten.
    """
    known = _normalize(business_context)
    return [
        fact for template in business_templates().values() for fact in template.made_up if _normalize(fact) in known
    ]


def are_example_hours(project: Project, hours: Mapping[str, Any]) -> bool:
    """True if the opening hours are a template's and nobody has confirmed them."""
    return (
        bool(hours)
        and not are_hours_confirmed(project)
        and any(hours == template.config["hours"] for template in business_templates().values())
    )


def confirm_hours(project: Project) -> bool:
    """Record that a person saved the opening hours, which makes them the business's own even if they equal the
    template's.

    Returns False if that was already recorded. Must run in a transaction; two concurrent calls may both return True.
    """
    if are_hours_confirmed(project):
        return False
    set_attribute(project, HOURS_CONFIRMED, True)
    return True


def are_hours_confirmed(project: Project) -> bool:
    confirmed = resolve_attributes(project).get(HOURS_CONFIRMED)
    return confirmed is not None and bool(confirmed.value)


@cache
def business_templates() -> dict[str, BusinessTemplate]:
    """Every template by name, in the order of their cards."""
    return {name: _read(name) for name in NAMES}


def start_business(
    business: str, *, starter: BusinessTemplate, owner: User, locale: Locale, about: str = ""
) -> Project:
    """Create an organization with its first project, ready to use, in one transaction."""
    config = starter.config_for(business, locale=locale, about=about)
    with transaction.atomic(), tenant_tx(create_organization(business, owner=owner).pk):
        project = create_project(business, config=config, author=owner)
        start_attributes(project, starter.attributes)
        plant_seeds(project, starter.seeds)
    return project


def _read(name: str) -> BusinessTemplate:
    document = json.loads((FOLDER / f"{name}.json").read_text())
    card, attributes = document.pop("card"), document.pop("attributes")
    seeds, made_up = document.pop("seeds", {}), tuple(document.pop("made_up"))
    return BusinessTemplate(name=name, config=document, attributes=attributes, seeds=seeds, made_up=made_up, **card)


def _normalize(text: str) -> str:
    """The text without differences in whitespace and case."""
    return " ".join(text.split()).casefold()


def _fill_in_name(value: Any, *, business: str) -> Any:
    """The value, with BUSINESS replaced by the name of the business."""
    if isinstance(value, str):
        return value.replace(BUSINESS, business)
    if isinstance(value, list):
        return [_fill_in_name(item, business=business) for item in value]
    if isinstance(value, dict):
        return {key: _fill_in_name(item, business=business) for key, item in value.items()}
    return value
