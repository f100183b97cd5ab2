"""Names in Redis. Whatever stands under them may vanish at any time."""

from __future__ import annotations

from uuid import UUID

PARTIAL_SECONDS = 180


def channel_of(conversation_id: UUID | str) -> str:
    """The pub/sub channel of one conversation, or of what is yet to begin for one customer."""
    return f"makegood:live:{conversation_id}"


def partial_of(conversation_id: UUID | str) -> str:
    """What the reply being written says so far."""
    return f"makegood:partial:{conversation_id}"
