"""Model calls that staff asks for: within the project's budget, recorded, and with no connection held meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, cast
from uuid import UUID

from pydantic import BaseModel

from conversations.live.model_calls import store_calls_about
from conversations.models import Conversation
from llm.types import CallRecord, ChatRequest
from projects.agents.request_client import with_model_client
from tenancy.threads import in_db

Output = TypeVar("Output", bound=BaseModel)


@dataclass(frozen=True)
class CallOwner:
    """The conversation for which a member asks the model."""

    organization_id: UUID
    project_id: UUID
    conversation_id: UUID


def owner_of(conversation: Conversation) -> CallOwner:
    return CallOwner(cast(UUID, conversation.organization_id), conversation.project_id, conversation.pk)


async def ask_model(request: ChatRequest, *, output: type[Output], owner: CallOwner) -> Output:
    """The model's answer; its calls are stored, also those that failed. Raises LlmError."""
    records: list[CallRecord] = []
    try:
        return await with_model_client(lambda client: client.structured(request, output=output, record=records.append))
    finally:
        await in_db(
            store_calls_about,
            owner.organization_id,
            owner.project_id,
            records,
            conversation_id=owner.conversation_id,
        )
