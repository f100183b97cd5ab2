"""The project attribute that holds all custom tools."""

from __future__ import annotations

from typing import Any

from projects.common.api_error import ApiError, Unprocessable
from projects.models import Project
from tools.engine.custom.reading import read_json, read_registration
from tools.engine.custom.service import list_tools, replace_all

KEY = "project_attributes_settings_newo_tools"


class ToolsAttribute:
    """`{"tools": {name: definition}}`, backed by the custom tools. It doesn't include whether a tool is switched off."""

    def read(self, project: Project) -> Any | None:
        tools = {tool.name: tool.definition for tool in list_tools(project)}
        return {"tools": tools} if tools else None

    def write(self, project: Project, value: Any) -> None:
        """Save every tool in the value and remove all others. The value may be JSON text.

        Raises Unprocessable for a malformed tool as well: an attribute's value may have any form.
        """
        try:
            replace_all(project, read_registration(read_json(value) if isinstance(value, str) else value))
        except ApiError as refusal:
            if refusal.status_code != ApiError.status:
                raise
            raise Unprocessable(refusal.code, refusal.message, field=refusal.field) from refusal

    def remove(self, project: Project) -> bool:
        had_any = list_tools(project).exists()
        replace_all(project, {})
        return had_any
