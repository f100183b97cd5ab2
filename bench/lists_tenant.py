"""The tenant that `bench.lists` fills, with one row of each kind written by the product itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from bench.lists_data import Samples
from conversations.inbox.tags import make_tag
from conversations.models import Channel, Conversation, Tag
from conversations.turns.services import post_message, start_conversation
from jobs.models import ModelCall
from projects.agents.services import create_organization, create_project
from projects.models import Project, User
from projects.models.agent_config import AgentConfig
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations
from todos.content.lifecycle import Actor
from todos.content.types import save_type
from todos.models import Todo, TodoEvent, TodoSource
from todos.services import make_todo

OWNER = "owner@bench.example"
TAGS = {"tag": "VIP", "rare_tag": "Wedding"}
KNOWN = {"name": "Marta Riva", "email": "marta@bench.example"}


@dataclass(frozen=True)
class Tenant:
    """The owner, the project, its first todo, a conversation, and its tags by how many have them."""

    owner: User
    project: Project
    todo: UUID
    conversation: UUID
    tags: Mapping[str, UUID]


def find_tenant() -> Tenant | None:
    """The tenant of an earlier run."""
    owner = User.objects.filter(email=OWNER).first()
    if owner is None:
        return None
    with tenant_tx(find_organizations(user_id=owner.pk)[0]):
        first = Todo.objects.select_related("project").order_by("created_at", "id")[0]
        return _tenant(owner, first)


def make_tenant() -> tuple[Tenant, Samples]:
    """A new tenant, with one row of each kind."""
    owner = User.objects.create_user(OWNER)
    organization = create_organization("Bench", owner=owner, developer_tools=True)
    config = AgentConfig(agent_name="Ada", business_name="Bench", timezone="Europe/Rome")
    with tenant_tx(organization.pk):
        project = create_project("Bench", config=config, author=owner)
        conversation = start_conversation(
            project, channel=Channel.CHAT, external_id="sample", known=KNOWN, metadata={"sample": True}
        )
        posted = post_message(conversation.pk, "Hello")
        assert posted.turn is not None
        call = ModelCall.objects.create(
            project=project, skill="reply", model="bench", messages=[], started_at=timezone.now(), total_ms=900
        )
        todo = _make_todo(project, conversation)
        event = TodoEvent.objects.get(todo=todo)
        for name in TAGS.values():
            make_tag(project, name)
        tenant = _tenant(owner, todo)
    samples = Samples(
        organization=organization.pk,
        owner=owner.pk,
        persona=conversation.persona_id,
        conversation=conversation.pk,
        turn=posted.turn.pk,
        message=posted.message.pk,
        call=call.pk,
        todo=todo.pk,
        todo_event=event.pk,
    )
    return tenant, samples


def _tenant(owner: User, todo: Todo) -> Tenant:
    tags = dict(Tag.objects.filter(project=todo.project).values_list("name", "pk"))
    conversation = Conversation.objects.order_by("created_at", "id").values_list("pk", flat=True)[0]
    return Tenant(owner, todo.project, todo.pk, conversation, {key: tags[name] for key, name in TAGS.items()})


def _make_todo(project: Project, conversation: Conversation) -> Todo:
    kind = save_type(
        project, {"name": "Letter", "description": "What was promised.", "tools": ["send_email_to_caller"]}
    )
    return make_todo(
        project,
        description="Send Marta what was promised",
        source=TodoSource.EXTRACTION,
        actor=Actor("the agent"),
        type=kind,
        conversation_id=conversation.pk,
        persona_id=conversation.persona_id,
        quote="I’ll e-mail you the menu.",
    )
