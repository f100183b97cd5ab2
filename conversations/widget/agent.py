"""The agent as the widget shows it."""

from __future__ import annotations

from typing import Any, cast

from projects.common.verticals import VERTICALS
from projects.models import AgentVersion, Project, Widget
from projects.models.agent_config import AgentConfig
from projects.widget.widgets import theme_of

SUGGESTED = 3


def agent_payload(project: Project, widget: Widget) -> dict[str, Any]:
    """Name, theme, texts, and the capabilities the server grants the agent."""
    config = _config_of(project)
    theme = theme_of(widget)
    return {
        "name": config.agent_name,
        "business": config.business_name,
        "capabilities": sorted(VERTICALS[config.vertical].capabilities),
        "theme": {**theme.palette(), "position": theme.position, "scheme": theme.scheme},
        "greeting": theme.greeting,
        "language": theme.language,
        "suggestions": list(config.openers[:SUGGESTED]),
    }


def _config_of(project: Project) -> AgentConfig:
    version = cast("AgentVersion | None", project.agent_version)
    return version.config if version else AgentConfig(agent_name=project.name, business_name=project.name)
