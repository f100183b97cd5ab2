"""Hints for open inboxes: the list has changed, or a member is writing an answer. Nothing of them is stored."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import redis
from pydantic_core import to_json

from conversations.models.event import EventType
from projects.common.redis_publish import publish
from projects.models import User

log = logging.getLogger(__name__)

CHANGED, TYPING = "changed", "typing"
# Events that change a row of the list, its place or a count. A reply's own steps don't.
SHOWN: frozenset[str] = frozenset({EventType.MESSAGE, EventType.EFFECT, EventType.SYSTEM})


def inbox_channel(project_id: UUID) -> str:
    """The pub/sub channel of a project's inbox."""
    return f"makegood:inbox:{project_id}"


def hint_changed(project_id: UUID, types: Iterable[str]) -> None:
    """Hint that the list has changed, if events of these types were stored and one of them shows in it."""
    if not SHOWN.isdisjoint(types):
        _publish(project_id, {"type": CHANGED})


def hint_typing(project_id: UUID, conversation_id: UUID, *, by: User) -> None:
    """Hint that the member is writing an answer in the conversation."""
    _publish(project_id, {"type": TYPING, "conversation": str(conversation_id), "email": by.email, "name": by.name})


def _publish(project_id: UUID, hint: dict[str, Any]) -> None:
    try:
        publish("PUBLISH", inbox_channel(project_id), to_json([hint]))
    except (redis.RedisError, OSError) as error:
        log.warning("Publishing to the inbox failed (%s); inboxes will poll.", type(error).__name__)
