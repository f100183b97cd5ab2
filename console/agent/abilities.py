"""Tools that the agent's model may call while it answers, for the settings page."""

from __future__ import annotations

from dataclasses import dataclass, replace

from projects.models import Project
from tools.engine.business_state import read_state
from tools.engine.catalogue import compile_builtin, is_called_by_model
from tools.engine.platform import stored_definitions
from tools.engine.registry import builtin_tools
from tools.engine.tool_words import summary_of


@dataclass(frozen=True)
class Ability:
    """A tool that models call. `why_not` says why it isn't offered even if enabled; `where` names its channels if limited."""

    name: str
    lead: str
    why_not: str
    where: str = ""


def list_abilities(project: Project) -> list[Ability]:
    """All callable tools, each compiled for its first channel, or chat. Call inside the tenant's transaction."""
    state = replace(read_state(project, channel="chat"), enabled_tools=None)
    stored = stored_definitions()
    found = []
    for name, tool in sorted(builtin_tools().items()):
        if is_called_by_model(tool):
            channel_state = replace(state, channel=tool.channels[0] if tool.channels else state.channel)
            compiled = compile_builtin(tool, channel_state, stored)
            where = " and ".join(tool.channels)
            found.append(Ability(name, summary_of(compiled), compiled.why_not, where))
    return found
