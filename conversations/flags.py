"""The flag that asks staff to look at a conversation, and taking it down."""

from __future__ import annotations

from uuid import UUID

from conversations.log import open_log
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
