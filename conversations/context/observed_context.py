"""Context of a message that no turn answers."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone

from conversations.context.transcript import read_unsummarised
from conversations.context.turn_context import TurnContext
from conversations.models import Message, PersonaField, Turn
from projects.agents.model_choice import endpoint_of


def scene_at(message_id: UUID) -> TurnContext | None:
    """The context of a message that no turn answers, with the transcript up to it. Its turn has no id.

    None if a turn answers the message by now: the conversation was handed back, and the observer runs on that turn.
    """
    rows = Message.objects.select_related("conversation__project__agent_version", "conversation__summary")
    message = rows.get(pk=message_id)
    if message.turn_id is not None:
        return None
    conversation = message.conversation
    config = conversation.project.agent_version.config
    return TurnContext(
        conversation=conversation,
        turn=Turn(id=None, conversation=conversation, seq=conversation.last_turn, message=message),
        project=conversation.project,
        config=config,
        at=timezone.now(),
        summary=conversation.summary.as_text if conversation.summary else "",
        messages=[said for said in read_unsummarised(conversation.pk) if said.seq <= message.seq],
        fields=list(PersonaField.objects.filter(persona_id=conversation.persona_id)),
        effects=(),
        endpoint=endpoint_of(conversation.project, config),
    )
