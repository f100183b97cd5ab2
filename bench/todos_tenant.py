"""The tenant that `bench.todos` fills, with the one todo that is copied, written by the product itself."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from conversations.models import Channel
from conversations.turns.services import start_conversation
from projects.agents.services import create_organization, create_project
from projects.models import User
from projects.models.agent_config import AgentConfig
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations
from todos.content.lifecycle import Actor
from todos.content.types import save_type
from todos.models import TodoEvent, TodoSource
from todos.services import make_todo

OWNER = "owner@bench.example"


@dataclass(frozen=True)
class Made:
    """The owner, the project's address, and the rows to copy."""

    owner: User
    slug: str
    todo: UUID
    event: UUID


def find_tenant() -> Made | None:
    """The tenant of an earlier run."""
    owner = User.objects.filter(email=OWNER).first()
    if owner is None:
        return None
    with tenant_tx(find_organizations(user_id=owner.pk)[0]):
        first = TodoEvent.objects.select_related("todo__project").order_by("at", "id").first()
        assert first is not None
        return Made(owner, first.todo.project.slug, first.todo_id, first.pk)


def make_tenant() -> Made:
    owner = User.objects.create_user(OWNER)
    organization = create_organization("Bench", owner=owner)
    config = AgentConfig(agent_name="Ada", business_name="Bench", timezone="Europe/Rome")
    with tenant_tx(organization.pk):
        project = create_project("Bench", config=config, author=owner)
        kind = save_type(
            project, {"name": "Letter", "description": "What was promised.", "tools": ["send_email_to_caller"]}
        )
        known = {"name": "Marta Riva", "email": "marta@bench.example"}
        guest = start_conversation(project, channel=Channel.CHAT, external_id="marta", known=known, metadata={})
        todo = make_todo(
            project,
            description="Send Marta what was promised",
            source=TodoSource.EXTRACTION,
            actor=Actor("the agent"),
            type=kind,
            conversation_id=guest.pk,
            persona_id=guest.persona_id,
            quote="I’ll e-mail you the menu.",
        )
        event = TodoEvent.objects.get(todo=todo)
    return Made(owner, project.slug, todo.pk, event.pk)
