"""The flag that asks staff to look at a conversation, that of a caller (F19), and taking them down."""

from __future__ import annotations

from uuid import UUID

from conversations.log import open_log
from conversations.models import Persona
from jobs.errors import WrongState
from projects.models import User


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
