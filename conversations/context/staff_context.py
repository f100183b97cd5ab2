"""A conversation's context at this moment, for the model's help to staff."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone

from conversations.common.queries import read_fields
from conversations.context.agreed import read_agreements
from conversations.context.transcript import read_unsummarized
from conversations.context.turn_context import EFFECTS, TurnContext
from conversations.models import Conversation, Turn
from projects.agents.model_choice import endpoint_of


def context_for_staff(conversation_id: UUID) -> TurnContext:
    """The context with the whole transcript, also if the agent wrote last. Its turn is the next one, and has no id."""
    rows = Conversation.objects.select_related("project__agent_version", "summary")
    conversation = rows.get(pk=conversation_id)
    config = conversation.project.agent_version.config
    return TurnContext(
        conversation=conversation,
        turn=Turn(id=None, conversation=conversation, seq=conversation.last_turn + 1),
        project=conversation.project,
        config=config,
        at=timezone.now(),
        summary=conversation.summary.as_text if conversation.summary else "",
        messages=read_unsummarized(conversation.pk),
        fields=read_fields(conversation, config),
        effects=EFFECTS(conversation.pk)[::-1],
        endpoint=endpoint_of(conversation.project, config),
        agreements=read_agreements(conversation, config, is_long=conversation.summary is not None),
    )
