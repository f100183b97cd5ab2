"""The place of a tool's execution in a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from django.utils import timezone

from conversations.models import Conversation
from projects.models.agent_config import AgentConfig
from tools.engine.execution.handler import Contact, Place


def place_in(
    conversation: Conversation,
    *,
    config: AgentConfig | None,
    contact: Contact | None,
    turn_id: UUID | None = None,
    call: Mapping[str, Any] | None = None,
) -> Place:
    """The place of a tool's execution now. `call` is the phone's data of a live call, by default the conversation's."""
    stored_call = conversation.metadata.get("call")
    return Place(
        organization_id=cast(UUID, conversation.organization_id),
        project_id=conversation.project_id,
        conversation_id=conversation.pk,
        turn_id=turn_id,
        channel=conversation.channel,
        timezone=config.timezone if config else "UTC",
        at=timezone.now(),
        contact=contact,
        business=config.business_name if config else "",
        shopper=conversation.shopper or {},
        has_chat=isinstance(conversation.metadata.get("chat"), Mapping),
        call=call if call is not None else (stored_call if isinstance(stored_call, Mapping) else {}),
    )
