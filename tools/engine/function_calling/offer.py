"""What a model is offered at one moment: functions in its provider's shape, and how it is to use them (L02, L08, L15, L16)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pydantic_core import to_json

from projects.models import Project
from projects.models.agent_config import AgentConfig
from tools.engine.business_state import BusinessState, normalise_channel, read_state
from tools.engine.catalogue import CompiledTool, compile_builtin, compile_custom
from tools.engine.custom.current_tools import StandingTool, standing_tools
from tools.engine.definition import Trigger
from tools.engine.execution.schemas import NOTHING
from tools.engine.function_calling.gemini import gemini_parameters
from tools.engine.keyed_cache import KeyedCache
from tools.engine.platform import StoredDefinition, stored_definitions
from tools.engine.registry import builtin_tools

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
    def weight(self) -> int:
        """The bytes of the functions in a request."""
        return len(to_json(self.functions)) if self.tools else 0

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
    return read_offer(Trigger.LIVE, project, channel=channel)


def read_offer(moment: Trigger, project: Project, *, channel: str) -> Offer:
    """What is offered at a moment, as the business stands now, in the running transaction. The project's own tools are read
    only where one of them says when it runs.
    """
    state, stored = read_state(project, channel=channel), stored_definitions()
    if state.has_own_moments:
        return offer_at(moment, state, stored, standing_tools(project.pk))
    return _kept.of((project.pk, moment, state.channel), (state, stored), lambda: offer_at(moment, state, stored))


# Most turns find their business as the one before found it, and what follows from it is much to work out: some twenty
# kilobytes each.
_kept: KeyedCache[Offer] = KeyedCache(most=200)


def read_offers(moment: Trigger, project: Project, config: AgentConfig, *, channels: Iterable[str]) -> dict[str, Offer]:
    """What would be offered on each channel with these settings, as the business stands otherwise, in the running transaction."""
    state = read_state(project, channel="", config=config)
    own = standing_tools(project.pk) if state.has_own_moments else ()
    stored = stored_definitions()
    states = {channel: replace(state, channel=normalise_channel(channel)) for channel in channels}
    return {channel: offer_at(moment, there, stored, own) for channel, there in states.items()}


def offer_at(
    moment: Trigger,
    state: BusinessState,
    stored: Mapping[str, StoredDefinition] | None,
    own: Sequence[StandingTool] = (),
) -> Offer:
    """The tools that are offered at a moment, the project's own over built-in ones of their name. A pure function (F06).

    An own tool is switched by itself: neither a capability nor the list of the agent's built-in tools narrows it.
    """
    tools = {
        name: compile_builtin(tool, state, stored)
        for name, tool in builtin_tools().items()
        # What its own gate closes no stored definition opens, and needn't be put into words.
        if moment in tool.moments and not tool.gate(state)
    }
    named = [tool for tool in own if tool.is_enabled and moment in tool.definition.runs_in]
    tools |= {tool.name: compile_custom(tool) for tool in named}
    return Offer({name: tools[name] for name in sorted(tools) if tools[name].is_offered})


def assemble(sections: Iterable[str]) -> str:
    """Prompt sections as one block, each section once."""
    parts = list(dict.fromkeys(section.strip() for section in sections if section.strip()))
    return "\n\n".join([HEADING, *parts]) if parts else ""
