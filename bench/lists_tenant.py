"""The tenant that `bench.lists` fills, and one row of each kind, written by the product itself."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from bench.lists_data import Samples
from conversations.models import Channel
from conversations.turns.services import post_message, start_conversation
from jobs.models import ModelCall
from projects.agents.services import create_organization, create_project
from projects.models import Project, User
from projects.models.agent_config import AgentConfig
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations

OWNER = "owner@bench.example"


@dataclass(frozen=True)
class Made:
    """The owner, the project's address, and the rows to copy."""

    owner: User
    slug: str
    samples: Samples


def find_tenant() -> tuple[User, str] | None:
    """The tenant of an earlier run."""
    owner = User.objects.filter(email=OWNER).first()
    if owner is None:
        return None
    with tenant_tx(find_organizations(user_id=owner.pk)[0]):
        return owner, Project.objects.get().slug


def make_tenant() -> Made:
    owner = User.objects.create_user(OWNER)
    organization = create_organization("Bench", owner=owner)
    config = AgentConfig(agent_name="Ada", business_name="Bench", timezone="Europe/Rome")
    with tenant_tx(organization.pk):
        project = create_project("Bench", config=config, author=owner)
        conversation = start_conversation(
            project, channel=Channel.CHAT, external_id="sample", known={}, metadata={"sample": True}
        )
        posted = post_message(conversation.pk, "Hello")
        assert posted.turn is not None
        call = ModelCall.objects.create(
            project=project, skill="reply", model="bench", messages=[], started_at=timezone.now(), total_ms=900
        )
    samples = Samples(
        organization=organization.pk,
        persona=conversation.persona_id,
        conversation=conversation.pk,
        turn=posted.turn.pk,
        message=posted.message.pk,
        call=call.pk,
    )
    return Made(owner, project.slug, samples)
