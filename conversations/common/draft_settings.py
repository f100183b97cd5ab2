"""Test conversations that use the draft of the agent's settings instead of the published version."""

from __future__ import annotations

from typing import cast

from conversations.common.queries import read_project
from conversations.models import Conversation
from projects.models import AgentVersion
from projects.models.agent_config import AgentConfig


def config_of(conversation: Conversation) -> AgentConfig:
    """The settings that apply to a conversation now, in the running transaction."""
    conversation.project = read_project(conversation.project_id)
    use_draft(conversation)
    return cast(AgentVersion, conversation.project.agent_version).config


def use_draft(conversation: Conversation) -> None:
    """Put the draft in the place of the loaded project's published version, if the conversation tests it.

    Each step of a turn reads the newest draft, so that a change can be tried in the same conversation. After the draft
    was published, the conversation uses what is published.
    """
    if not conversation.tests_draft:
        return
    newest = AgentVersion.objects.filter(project_id=conversation.project_id).latest("number")
    if newest.is_draft:
        conversation.project.agent_version = newest
