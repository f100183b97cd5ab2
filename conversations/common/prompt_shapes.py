"""Small value objects for prompts; templates/prompts reads their fields by name."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Line:
    """One message of a transcript. `role` is customer, agent, operator or system."""

    role: str
    content: str


@dataclass(frozen=True)
class Fact:
    """One fact known about the customer. `since` is the day it was learned, if that was before the conversation."""

    field: str
    value: str
    since: str = ""


@dataclass(frozen=True)
class ExtraField:
    """A project-defined field for the observer to look for."""

    key: str
    description: str


@dataclass(frozen=True)
class Step:
    number: str
    text: str
    collects: list[str] = field(default_factory=list)
    # Names of the tools the agent may promise in this step.
    tools: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Scenario:
    number: int
    title: str
    steps: list[Step]


@dataclass(frozen=True)
class Procedure:
    title: str
    text: str


@dataclass(frozen=True)
class Intent:
    name: str
    instruction: str


@dataclass(frozen=True)
class Action:
    """An effect as shown in prompts: the tool's name, its state and a short note."""

    name: str
    state: str
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A named prompt section written by a tool."""

    name: str
    content: str


@dataclass(frozen=True)
class DirectivesView:
    """Directives as shown in the reply prompt."""

    version: int
    scenario: str
    step: str
    goal: str
    instructions: list[str]
    to_collect: list[str]
    tools_pending: list[str]
    avoid: list[str]
    known: list[Fact] = field(default_factory=list)
