"""Where the agent's settings count on a project's own tool."""

from __future__ import annotations

from projects.agents.tool_names import StepReference, steps_using
from projects.models import Project
from tools.engine.registry import builtin_tools


def steps_left_without(project: Project, name: str) -> list[StepReference]:
    """The steps of scenarios that name the tool and would name nothing that runs without it, in the running transaction.

    Where there is a built-in tool of its name, that takes its place.
    """
    version = project.agent_version
    return [] if version is None or name in builtin_tools() else steps_using(name, version.document)
