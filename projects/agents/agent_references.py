"""Names in an agent's settings that nothing or two things go by: tools that don't exist, intents that are called the same.

Held to when settings are changed, never when they are read or restored: what stands in a version must go on working, also after a
tool that it names was removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from projects.agents.tool_names import no_such_tool, tool_names, tools_of_steps
from projects.models import Project
from projects.models.agent_config import AgentConfig, Intent


def wrong_names(project: Project, config: AgentConfig, *, standing: Mapping[str, Any]) -> dict[str, str]:
    """A sentence for each field with a name that the standing settings don't have already, by its path."""
    document = config.model_dump(mode="json")
    twice = {} if document["intents"] == standing.get("intents") else intents_called_the_same(config.intents)
    return {**twice, **_steps_without_tools(project, document, standing=standing)}


def intents_called_the_same(intents: Sequence[Intent]) -> dict[str, str]:
    """By the path of each name that stands before, whatever its case and spaces."""
    first: dict[str, int] = {}
    found = {}
    for index, intent in enumerate(intents):
        number = first.setdefault(" ".join(intent.name.split()).casefold(), index + 1)
        if number != index + 1:
            found[f"intents.{index}.name"] = (
                f"Intent {number} is called '{intents[number - 1].name}' too, so the agent can't tell which to follow; "
                "rename one, or make them one."
            )
    return found


def _steps_without_tools(
    project: Project, document: Mapping[str, Any], *, standing: Mapping[str, Any]
) -> dict[str, str]:
    stood = {name for _, names in tools_of_steps(standing) for name in names}
    new = {path: [name for name in names if name not in stood] for path, names in tools_of_steps(document)}
    if not any(new.values()):
        return {}
    known = tool_names(project)
    wrong = {path: [name for name in names if name not in known] for path, names in new.items()}
    return {path: " ".join(no_such_tool(name, known=known) for name in names) for path, names in wrong.items() if names}
