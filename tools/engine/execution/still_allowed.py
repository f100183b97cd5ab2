"""Whether the tool of a planned effect may still be used (E9)."""

from __future__ import annotations

from projects.models import Project
from tools.engine.business_state import read_state
from tools.engine.catalogue import CUSTOM, why_not
from tools.engine.registry import builtin_tools
from tools.models import CustomTool, Effect


def why_not_now(effect: Effect, project: Project, *, channel: str) -> str:
    """Why the tool may not be used any more, or "". A tool that was edited meanwhile runs as it was planned."""
    if effect.tool_origin == CUSTOM:
        row = CustomTool.objects.filter(project=project, name=effect.tool).first()
        if row is None or row.is_removed:
            return f"The tool {effect.tool} was removed."
        return "" if row.is_enabled else f"The tool {effect.tool} was switched off."
    tool = builtin_tools().get(effect.tool)
    if tool is None:
        return f"The tool {effect.tool} was removed."
    closed = why_not(tool, read_state(project, channel=channel))
    return f"The tool {effect.tool} was switched off: {closed}." if closed else ""
