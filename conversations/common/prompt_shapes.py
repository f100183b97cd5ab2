"""The small shapes that prompts are made of; templates/prompts reads their fields by name."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Line:
    """One message of a transcript. `role` is customer, agent, operator or system."""

    role: str
    content: str


@dataclass(frozen=True)
class Fact:
    """One thing known about the customer."""

    field: str
    value: str


@dataclass(frozen=True)
class ExtraField:
    """A field of the project's own that the observer looks for."""

    key: str
    description: str


@dataclass(frozen=True)
class Step:
    number: str
    text: str
    collects: list[str] = field(default_factory=list)
    # What the agent may promise in this step, by name.
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
    """An effect as the prompts see it: the tool's name, its state, a short note."""

    name: str
    state: str
    note: str = ""


@dataclass(frozen=True)
class Section:
    """What a tool put into the prompts of its conversation, under a name."""

    name: str
    content: str


@dataclass(frozen=True)
class DirectivesView:
    """Directives as the reply's prompt shows them."""

    version: int
    scenario: str
    step: str
    goal: str
    instructions: list[str]
    to_collect: list[str]
    tools_pending: list[str]
    avoid: list[str]
    known: list[Fact] = field(default_factory=list)
