"""Ready-made businesses that a newcomer begins with, and edits."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from django.db import transaction

from projects.agent import AgentConfig
from projects.attributes import start_attributes
from projects.models import Project, User
from projects.seeds import plant_seeds
from projects.services import create_organization, create_project
from projects.tenancy import tenant_tx

FOLDER = Path(__file__).parent
NAMES = ("restaurant", "clinic", "shop", "agency")
BUSINESS = "{business}"


@dataclass(frozen=True)
class Locale:
    """Where the business is: an IANA time zone, and the two letters of a country for phone numbers."""

    timezone: str
    region: str


@dataclass(frozen=True)
class Starter:
    """One template: what its card says, its agent's settings with BUSINESS for the name, its switches, and its `seeds`."""

    name: str
    title: str
    line: str
    icon: str
    hears: str
    says: str
    config: dict[str, Any] = field(repr=False)
    attributes: dict[str, Any] = field(repr=False)
    seeds: dict[str, Any] = field(repr=False)

    def config_for(self, business: str, *, locale: Locale) -> AgentConfig:
        """The settings for a business. Raises pydantic.ValidationError for a time zone or region that doesn't exist."""
        document = _named(self.config, business=business)
        document |= {"business_name": business, "timezone": locale.timezone, "region": locale.region}
        return AgentConfig.model_validate(document)


def is_still_example(business_context: str, *, business: str) -> bool:
    """Whether what the agent knows of a business is a template's, made-up address, prices and all."""
    known = _without(business, business_context)
    return any(known == _without(BUSINESS, one.config["business_context"]) for one in starters().values())


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
    seeds = document.pop("seeds", {})
    return Starter(name=name, config=document, attributes=attributes, seeds=seeds, **card)


def _without(name: str, text: str) -> str:
    return (text.replace(name, "") if name else text).replace("\r\n", "\n").strip()


def _named(value: Any, *, business: str) -> Any:
    """The value with the name of the business wherever BUSINESS stands."""
    if isinstance(value, str):
        return value.replace(BUSINESS, business)
    if isinstance(value, list):
        return [_named(one, business=business) for one in value]
    if isinstance(value, dict):
        return {key: _named(one, business=business) for key, one in value.items()}
    return value
