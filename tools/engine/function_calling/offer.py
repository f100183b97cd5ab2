"""The tools offered to a model: functions in its provider's format, and the prompt section about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any

from pydantic_core import to_json

from projects.models import Project
from projects.models.agent_config import AgentConfig
from tools.engine.business_state import BusinessState, normalize_channel, read_state
from tools.engine.catalogue import CompiledTool, compile_builtin, compile_own
from tools.engine.custom.current_tools import CurrentTool, load_current_tools
from tools.engine.definition import Trigger
from tools.engine.execution.schemas import NO_PARAMETERS
from tools.engine.function_calling.gemini import gemini_parameters
from tools.engine.keyed_cache import KeyedCache
from tools.engine.platform import StoredDefinition, stored_definitions
from tools.engine.registry import builtin_tools

HEADING = "## Available Tools"


@dataclass(frozen=True)
class AgentToolDefinition:
    """One function, independent of the provider. `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    def as_openai(self) -> dict[str, Any]:
        """The function in Chat Completions format."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}

    def as_realtime(self) -> dict[str, Any]:
        """The function in the flat format of OpenAI's Realtime API."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }

    def as_gemini(self) -> dict[str, Any]:
        """The function as one of Gemini's `functionDeclarations`."""
        parameters = gemini_parameters(self.parameters)
        declaration = {"name": self.name, "description": self.description}
        return {**declaration, "parameters": parameters} if parameters else declaration


@dataclass(frozen=True)
class Offer:
    """The tools offered on one trigger, by name, in the order shown to the model."""

    tools: Mapping[str, CompiledTool] = field(default_factory=dict)

    @cached_property
    def definitions(self) -> Sequence[AgentToolDefinition]:
        return [
            AgentToolDefinition(tool.name, tool.definition.description, tool.parameters or NO_PARAMETERS)
            for tool in self.tools.values()
        ]

    @cached_property
    def functions(self) -> list[dict[str, Any]]:
        """The functions in Chat Completions format."""
        return [one.as_openai() for one in self.definitions]

    @cached_property
    def weight(self) -> int:
        """Size of the functions in a request, in bytes."""
        return len(to_json(self.functions)) if self.tools else 0

    @cached_property
    def realtime_functions(self) -> list[dict[str, Any]]:
        """The functions in the format of OpenAI's Realtime API."""
        return [one.as_realtime() for one in self.definitions]

    @cached_property
    def declarations(self) -> list[dict[str, Any]]:
        """The functions as Gemini's `functionDeclarations`."""
        return [one.as_gemini() for one in self.definitions]

    @cached_property
    def replaced(self) -> frozenset[str]:
        """Names of the commitment tools whose action the model can call here, so that it has nothing to promise.

        A kind that several commitment tools share is left out, because the call may do the other one's work.
        """
        called = {tool.kind for tool in self.tools.values()} - {""}
        return frozenset(names[0] for kind, names in _promised_by_kind().items() if kind in called and len(names) == 1)

    @cached_property
    def addendum(self) -> str:
        """The tools' sections under one heading; empty without any."""
        return join_sections(tool.section for tool in self.tools.values())


@cache
def _promised_by_kind() -> Mapping[str, Sequence[str]]:
    """Names of the built-in commitment tools, by the kind of their effects."""
    by_kind: dict[str, list[str]] = {}
    for name, tool in builtin_tools().items():
        if Trigger.COMMITMENT in tool.moments:
            by_kind.setdefault(tool.kind, []).append(name)
    return by_kind


def collect_agent_tools(project: Project, *, channel: str) -> Offer:
    """The tools of a live session, for its start: the definitions and the addendum to the instructions.

    Runs in the running transaction.
    """
    return read_offer(Trigger.LIVE, project, channel=channel)


def read_offer(moment: Trigger, project: Project, *, channel: str) -> Offer:
    """The tools offered on a trigger, from the business's current state, in the running transaction.

    Custom tools are loaded only if one of them sets `moments`.
    """
    state, stored = read_state(project, channel=channel), stored_definitions()
    if state.has_own_moments:
        return offer_at(moment, state, stored, load_current_tools(project.pk))
    return _cache.get((project.pk, moment, state.channel), (state, stored), lambda: offer_at(moment, state, stored))


# Consecutive turns usually find the business in the same state, and an offer is expensive to build. An entry takes
# about 20 kB. Offers for settings that may not be live have entries of their own.
_cache: KeyedCache[Offer] = KeyedCache(max_entries=400)


def read_offers(moment: Trigger, project: Project, config: AgentConfig, *, channels: Iterable[str]) -> dict[str, Offer]:
    """The tools offered on each channel with these settings and the otherwise current state, in the running
    transaction.
    """
    state = read_state(project, channel="", config=config)
    own = load_current_tools(project.pk) if state.has_own_moments else ()
    stored = stored_definitions()
    states = {channel: replace(state, channel=normalize_channel(channel)) for channel in channels}
    if own:
        return {channel: offer_at(moment, there, stored, own) for channel, there in states.items()}
    return {
        channel: _cache.get(
            (project.pk, moment, there.channel, "settings"), (there, stored), partial(offer_at, moment, there, stored)
        )
        for channel, there in states.items()
    }


def offer_at(
    moment: Trigger,
    state: BusinessState,
    stored: Mapping[str, StoredDefinition] | None,
    own: Sequence[CurrentTool] = (),
) -> Offer:
    """The tools offered on a trigger; custom tools override built-in ones by name. Pure.

    Custom tools are not subject to capabilities or to the agent's allowlist.
    """
    tools = {
        name: compile_builtin(tool, state, stored)
        for name, tool in builtin_tools().items()
        # A stored definition can't open a tool's own gate, so skip compiling the closed ones.
        if moment in tool.moments and not tool.gate(state)
    }
    named = [tool for tool in own if tool.is_enabled and moment in tool.definition.runs_in]
    tools |= {tool.name: compile_own(tool, state) for tool in named}
    return Offer({name: tools[name] for name in sorted(tools) if tools[name].is_offered})


def join_sections(sections: Iterable[str]) -> str:
    """Join the prompt sections under the heading, each once."""
    parts = list(dict.fromkeys(section.strip() for section in sections if section.strip()))
    return "\n\n".join([HEADING, *parts]) if parts else ""
