"""System events from outside, and the handling of urgent messages and waiting mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conversations.followups.waits import ACTIVATE, activate_waiting, end_activated_waits
from conversations.live.event_log import open_log
from conversations.models import Conversation, Turn
from conversations.models.event import URGENT


def post_event(conversation: Conversation, idn: str, payload: Mapping[str, Any]) -> Turn | None:
    """Append a system event. Return the turn that an urgent message triggers, if any. Raises ApiError."""
    with open_log(conversation.pk) as log:
        if idn == URGENT:
            return end_activated_waits(log, payload)
        if idn == ACTIVATE:
            activate_waiting(log, payload)
        else:
            log.add_event(idn, payload=dict(payload))
    return None
