"""Test conversations with the draft of the agent's settings; all others use what is published."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.models import Conversation
from projects.agents.agent_versions import Edit, change_agent
from projects.agents.drafts import publish_draft
from tests.conftest import Tenant
from tests.conversations.conftest import Talk
from tests.conversations.pipeline.conftest import prompts_of

DRAFT = {"playground": True, "draft": True}


def say_with(talk: Talk, metadata: dict[str, Any]) -> str:
    """Say something in a conversation with this metadata. Gives the stable prompt."""
    with talk.tenant.tx():
        Conversation.objects.filter(pk=talk.conversation.pk).update(metadata=metadata)
    return prompts_of(talk, talk.say("Hi"))[0]


@pytest.fixture
def draft(tenant: Tenant) -> int:
    with tenant.tx():
        return change_agent(tenant.project, Edit({"agent_name": "Bruno"}, 1, tenant.owner)).number


@pytest.mark.parametrize(
    ("metadata", "name"), [(DRAFT, "Bruno"), ({"playground": True}, "Nello"), ({"draft": True}, "Nello")]
)
def test_only_a_test_of_the_draft_uses_it(talk: Talk, draft: int, metadata: dict[str, Any], name: str) -> None:
    assert say_with(talk, metadata).startswith(f"You are {name},")


def test_after_its_publication_everybody_meets_it(talk: Talk, draft: int) -> None:
    with talk.tenant.tx():
        publish_draft(talk.tenant.project, started_from=draft, author=talk.tenant.owner)
    assert say_with(talk, {}).startswith("You are Bruno,")
    assert say_with(talk, DRAFT).startswith("You are Bruno,")
