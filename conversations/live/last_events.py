"""Positions of many conversations' streams, loaded in one query per tenant."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Exists, OuterRef

from conversations.models import Channel, Conversation, Turn, TurnStatus
from tenancy.scope import tenant_tx


@dataclass(frozen=True)
class StreamPosition:
    """The number of a conversation's last event, and whether a reply is being written."""

    last_event: int
    is_replying: bool


def load_stream_positions(organization_id: UUID, conversation_ids: Collection[UUID]) -> dict[UUID, StreamPosition]:
    """The positions of a tenant's conversations, in one statement."""
    with tenant_tx(organization_id):
        replying = Turn.objects.filter(conversation=OuterRef("pk"), status=TurnStatus.REPLYING)
        rows = Conversation.objects.filter(pk__in=conversation_ids).annotate(is_replying=Exists(replying))
        found = rows.values_list("pk", "last_event", "is_replying")
        return {pk: StreamPosition(last_event, is_replying) for pk, last_event, is_replying in found}


def beginnings(organization_id: UUID, persona_ids: Collection[UUID]) -> dict[UUID, StreamPosition]:
    """For each customer, the number of portal conversations as the position of their page, in one statement."""
    with tenant_tx(organization_id):
        rows = Conversation.objects.filter(persona_id__in=persona_ids, channel=Channel.PORTAL).order_by()
        begun = rows.values_list("persona_id").annotate(begun=Count("pk"))
        return {persona_id: StreamPosition(count, is_replying=False) for persona_id, count in begun}
