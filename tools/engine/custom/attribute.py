"""The source's own door to a project's tools: one attribute that holds them all (N15, N50, D4)."""

from __future__ import annotations

from typing import Any

from projects.models import Project
from tools.engine.custom.reading import read_json, read_registration
from tools.engine.custom.service import list_tools, replace_all

KEY = "project_attributes_settings_newo_tools"


class ToolsAttribute:
    """`{"tools": {name: definition}}`, of the same rows as every other door. Which are switched off it doesn't say."""

    def read(self, project: Project) -> Any | None:
        tools = {tool.name: tool.definition for tool in list_tools(project)}
        return {"tools": tools} if tools else None

    def write(self, project: Project, value: Any) -> None:
        """Save every tool that is named, and remove those that aren't. The value may be JSON as text."""
        replace_all(project, read_registration(read_json(value) if isinstance(value, str) else value))

    def remove(self, project: Project) -> bool:
        had_any = list_tools(project).exists()
        replace_all(project, {})
        return had_any
