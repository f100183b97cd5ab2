"""Changing an agent's settings and publishing them at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from projects.agents.agent_versions import Edit, change_agent
from projects.agents.drafts import publish_draft
from projects.agents.services import latest_agent_version
from projects.models import AgentVersion, Project, User


def publish(project: Project, changes: Mapping[str, Any], *, author: User) -> AgentVersion:
    """Change the settings and publish them, in the running transaction."""
    draft = change_agent(project, Edit(changes, latest_agent_version(project).number, author))
    if not draft.is_draft:
        return draft
    return publish_draft(project, started_from=draft.number, author=author)
