"""The tools that the agent's model calls while it answers, as the page of its settings lists them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from projects.models import Project
from tools.engine.business_state import read_state
from tools.engine.catalogue import compile_builtin, is_called_by_model
from tools.engine.platform import stored_definitions
from tools.engine.registry import builtin_tools


@dataclass(frozen=True)
class Ability:
    """A tool that models call. `why_not` says what else keeps it back, whether it is switched on here or not; `where` the
    channels that it is for, if not for all.
    """

    name: str
    lead: str
    why_not: str
    where: str = ""


def list_abilities(project: Project) -> list[Ability]:
    """All of them, inside the tenant's transaction: each as compiled for its own channel, for chat if it is for every channel."""
    state = replace(read_state(project, channel="chat"), enabled_tools=None)
    stored = stored_definitions()
    found = []
    for name, tool in sorted(builtin_tools().items()):
        if is_called_by_model(tool):
            there = replace(state, channel=tool.channels[0] if tool.channels else state.channel)
            compiled = compile_builtin(tool, there, stored)
            where = " and ".join(tool.channels)
            found.append(Ability(name, compiled.definition.description, compiled.why_not, where))
    return found
