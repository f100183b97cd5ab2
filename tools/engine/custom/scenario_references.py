"""Scenario steps that depend on a custom tool."""

from __future__ import annotations

from projects.agents.tool_names import StepReference, steps_using
from projects.models import Project
from tools.engine.registry import builtin_tools


def steps_naming_only(project: Project, name: str) -> list[StepReference]:
    """Steps of scenarios that name the tool and would name nothing without it, in the running transaction.

    Empty if a built-in tool has the same name and takes its place.
    """
    version = project.agent_version
    return [] if version is None or name in builtin_tools() else steps_using(name, version.document)
