"""What a model is offered at one moment: functions in its provider's shape, and how it is to use them (L02, L08, L15, L16)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from projects.models import Project
from tools.builtin import builtin_tools
from tools.calling.gemini import gemini_parameters
from tools.catalogue import CompiledTool, compile_builtin
from tools.definition import Moment
from tools.execution.schemas import NOTHING
from tools.platform import StoredDefinition, stored_definitions
from tools.state import BusinessState, read_state

HEADING = "## Available Tools"


@dataclass(frozen=True)
class AgentToolDefinition:
    """One function, whoever the provider is (L08). `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    def as_openai(self) -> dict[str, Any]:
        """In the wire format of Chat Completions."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}

    def as_gemini(self) -> dict[str, Any]:
        """As one of Gemini's `functionDeclarations`."""
        parameters = gemini_parameters(self.parameters)
        declaration = {"name": self.name, "description": self.description}
        return {**declaration, "parameters": parameters} if parameters else declaration


@dataclass(frozen=True)
class Offer:
    """The tools of one moment that are offered, by name, in the order in which a model reads them."""

    tools: Mapping[str, CompiledTool] = field(default_factory=dict)

    @cached_property
    def definitions(self) -> Sequence[AgentToolDefinition]:
        return [
            AgentToolDefinition(tool.name, tool.definition.description, tool.parameters or NOTHING)
            for tool in self.tools.values()
        ]

    @cached_property
    def functions(self) -> list[dict[str, Any]]:
        """The definitions in the wire format of Chat Completions."""
        return [one.as_openai() for one in self.definitions]

    @cached_property
    def declarations(self) -> list[dict[str, Any]]:
        """The definitions as Gemini's `functionDeclarations`."""
        return [one.as_gemini() for one in self.definitions]

    @cached_property
    def addendum(self) -> str:
        """The sections of the tools that have one, under one heading; empty without any (L15, L16)."""
        return assemble(tool.section for tool in self.tools.values())


def collect_agent_tools(project: Project, *, channel: str) -> Offer:
    """Everything that the model of a live session is to be told of tools, at its start: the definitions, and the addendum to
    its instructions (L02). One call, in the running transaction.
    """
    return offer_at(Moment.LIVE, read_state(project, channel=channel), stored_definitions())


def offer_at(moment: Moment, state: BusinessState, stored: Mapping[str, StoredDefinition] | None) -> Offer:
    """The built-in tools that are offered at a moment. A pure function (F06)."""
    compiled = (
        compile_builtin(tool, state, stored) for _, tool in sorted(builtin_tools().items()) if moment in tool.moments
    )
    return Offer({tool.name: tool for tool in compiled if tool.is_offered})


def assemble(sections: Iterable[str]) -> str:
    """Prompt sections as one block, each section once."""
    parts = list(dict.fromkeys(section.strip() for section in sections if section.strip()))
    return "\n\n".join([HEADING, *parts]) if parts else ""
