"""Publishing to the live stream. Never raises: a stream that misses a message polls the database within seconds."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import redis
from pydantic_core import to_json

from conversations.live.client import channel_of
from conversations.models import Event
from projects.common.redis_publish import publish

log = logging.getLogger(__name__)


def publish_events(conversation_id: UUID, events: Sequence[Event]) -> None:
    """Publish stored events with their numbers, so that a stream can detect gaps."""
    if events:
        _publish(conversation_id, [event_entry(event) for event in events])


def publish_beginning(persona_id: UUID) -> None:
    """Notify a customer's open portal pages that their chat has started."""
    _publish(persona_id, [{"type": "begun"}])


def _publish(room: UUID, entries: Sequence[dict[str, Any]]) -> None:
    try:
        publish("PUBLISH", channel_of(room), to_json(entries))
    except (redis.RedisError, OSError) as error:
        log.warning("Publishing to the live stream failed (%s); streams will poll.", type(error).__name__)


def event_entry(event: Event) -> dict[str, Any]:
    """An event as a stream entry."""
    return {"seq": event.seq, "type": event.type, "payload": event.payload}
