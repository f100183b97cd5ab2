"""The document that configures an agent."""

from __future__ import annotations

import zoneinfo
from collections import OrderedDict
from datetime import date
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, field_validator

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
TimeOfDay = Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$|^24:00$")]
Words = Annotated[str, Field(min_length=1, max_length=2000)]
Skill = Literal["reply", "observer", "thoughts", "detect"]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScenarioStep(Part):
    """One step: what the agent does, which fields it learns, which tools it may promise."""

    text: Words
    collects: list[str] = []
    tools: list[str] = []


class Scenario(Part):
    title: Annotated[str, Field(min_length=1, max_length=200)]
    steps: Annotated[list[ScenarioStep], Field(min_length=1, max_length=20)]


class Procedure(Part):
    title: Annotated[str, Field(min_length=1, max_length=200)]
    text: Words


class Intent(Part):
    """What to do when the customer wants this, in and out of working hours (T05)."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    working_hours: Words
    non_working_hours: Words


class ObserverField(Part):
    """A field of the project's own that the observer looks for."""

    key: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    description: Annotated[str, Field(min_length=1, max_length=300)]


class AgentConfig(Part):
    """Everything a business tells its agent. Times of day are local to `timezone`; days are weekdays."""

    agent_name: Annotated[str, Field(min_length=1, max_length=80)]
    business_name: Annotated[str, Field(min_length=1, max_length=120)]
    business_context: Annotated[str, Field(max_length=20_000)] = ""
    style: Annotated[str, Field(max_length=1000)] = "Be warm and brief: one to three sentences."
    timezone: str = "UTC"
    region: Annotated[str, Field(pattern=r"^[A-Z]{2}$")] = "US"
    scenarios: Annotated[list[Scenario], Field(max_length=30)] = []
    procedures: Annotated[list[Procedure], Field(max_length=30)] = []
    intents: Annotated[list[Intent], Field(max_length=40)] = []
    hours: dict[Day, list[tuple[TimeOfDay, TimeOfDay]]] = {}
    holidays: list[date] = []
    observer_fields: Annotated[list[ObserverField], Field(max_length=30)] = []
    models: dict[Skill, Annotated[str, Field(min_length=1, max_length=120)]] = {}
    model_base_url: Annotated[str, Field(max_length=500)] = ""

    @field_validator("timezone")
    @classmethod
    def known_zone(cls, value: str) -> str:
        if value not in zoneinfo.available_timezones():
            raise ValueError(f"{value!r} is not a time zone; write one like Europe/Rome")
        return value

    @field_validator("hours")
    @classmethod
    def opens_before_it_closes(cls, value: dict[Day, list[tuple[str, str]]]) -> dict[Day, list[tuple[str, str]]]:
        for day, spans in value.items():
            for opens, closes in spans:
                if opens >= closes:
                    raise ValueError(
                        f"{day} closes at {closes}, before it opens at {opens}; swap them or split at midnight"
                    )
        return value


_parsed: OrderedDict[UUID, AgentConfig] = OrderedDict()
_KEPT = 512


def parse_config(version_id: UUID, document: dict[str, Any]) -> AgentConfig:
    """The config of one version, from a small cache: a version never changes. Raises pydantic.ValidationError."""
    config = _parsed.get(version_id)
    if config is None:
        config = _parsed[version_id] = AgentConfig.model_validate(document)
        if len(_parsed) > _KEPT:
            _parsed.popitem(last=False)
    return config
