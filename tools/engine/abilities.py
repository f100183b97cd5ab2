"""The tools as the agent's settings list them: those that its model calls (W02), and the names of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from console.agent.abilities import Ability
from projects.models import Project
from tools.engine.business_state import read_state
from tools.engine.catalogue import compile_builtin, is_called
from tools.engine.custom.service import list_tools
from tools.engine.platform import stored_definitions
from tools.engine.registry import builtin_tools


def every_tool(project: Project) -> Sequence[str]:
    """The names of all tools that the project has, on or off."""
    return [*builtin_tools(), *list_tools(project).exclude(name__in=builtin_tools()).values_list("name", flat=True)]


def agent_abilities(project: Project) -> Sequence[Ability]:
    """Each with what keeps it back besides the switch: read where it is for, on a chat if it is for everywhere."""
    state = replace(read_state(project, channel="chat"), enabled_tools=None)
    stored = stored_definitions()
    found = []
    for name, tool in sorted(builtin_tools().items()):
        if is_called(tool):
            there = replace(state, channel=tool.channels[0] if tool.channels else state.channel)
            compiled = compile_builtin(tool, there, stored)
            where = " and ".join(tool.channels)
            found.append(Ability(name, compiled.definition.description, compiled.why_not, where))
    return found
