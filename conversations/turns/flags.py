"""The flag that asks staff to look at a conversation, why it went up, that of a caller (F19), and taking them down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from conversations.live.event_log import open_log
from conversations.models import Conversation, Event, Persona
from jobs.errors import WrongState
from projects.models import User

LONGEST_FLAG = 300
MOST_REASONS, MOST_EVENTS = 5, 100
CLEARED = "flag_cleared"


def low_score(score: int, reason: str) -> str:
    return f"Quality {score} of 10: {reason}"


def broken_claim(quotes: Sequence[str]) -> str:
    return f"It said so, but nothing did it: “{'” and “'.join(quotes)}”"[:LONGEST_FLAG]


def no_reply(reason: str) -> str:
    return f"No reply could be written: {reason}"[:LONGEST_FLAG]


def flag_reasons(conversation: Conversation) -> list[str]:
    """Why the flag is up, the newest first: the flag itself says one reason, and the log has those of the same time."""
    if not conversation.flag:
        return []
    rows = Event.objects.filter(conversation=conversation, idn__in=[*REASONS, CLEARED]).order_by("-seq")[:MOST_EVENTS]
    claims: dict[str, list[str]] = {}
    since = list[Event]()
    for event in rows:
        if event.idn == CLEARED:
            break
        since.append(event)
        if event.idn == "claim_unbacked":
            # What one reply claimed is one reason, with its quotes in their order.
            quotes = claims.setdefault(event.payload["turn"], [])
            quotes[:] = [event.payload["quote"], *(one for one in quotes if one != event.payload["quote"])]
    said = [REASONS[event.idn](event.payload, claims) for event in since]
    return list(dict.fromkeys([conversation.flag, *said]))[:MOST_REASONS]


# By the event that tells of it: the reason as the flag says it, of the event and of what each turn claimed.
REASONS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Sequence[str]]], str]] = {
    "quality_low": lambda payload, claims: low_score(payload["score"], payload["reason"]),
    "claim_unbacked": lambda payload, claims: broken_claim(claims[payload["turn"]]),
    "reply_failed": lambda payload, claims: no_reply(payload["message"]),
}


def clear_flag(conversation_id: UUID, *, by: User) -> str:
    """Take the flag down, and keep in the log what it said and who did it. Returns what it said.

    Two people at once: one takes it down, the other gets WrongState. Raises Conversation.DoesNotExist.
    """
    with open_log(conversation_id) as log:
        reason = log.conversation.flag
        if not reason:
            raise WrongState("The flag was taken down already.")
        log.conversation.flag = ""
        log.add_event("flag_cleared", payload={"reason": reason, "by": by.name})
    return reason


def clear_caller_flag(conversation_id: UUID, *, by: User) -> None:
    """Take the flag of the conversation's customer down; the log keeps what it said and who did it. Raises WrongState."""
    with open_log(conversation_id) as log:
        persona = Persona.objects.select_for_update().get(pk=log.conversation.persona_id)
        if not persona.flagged:
            raise WrongState("The caller's flag was taken down already.")
        log.add_event("caller_flag_cleared", payload={"reason": persona.flag_reason, "by": by.name})
        persona.flagged, persona.flag_reason = False, ""
        persona.save(update_fields=["flagged", "flag_reason"])
