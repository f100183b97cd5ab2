"""The product's own sentences in a conversation, in the customer's language: notices about colleagues, and the apology."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

from django.utils.translation import gettext, override

from conversations.live.event_log import ConversationLog
from conversations.models import Conversation, Message, MessageRole, PersonaField
from projects.widget.languages import customer_language

NOTICE = "notice"


class Notice(StrEnum):
    """A notice: a colleague was asked for, joined, or left."""

    ASKED = "asked"
    JOINED = "joined"
    LEFT = "left"


# Each notice as the log calls it.
IDNS = {Notice.ASKED: "person_requested", Notice.JOINED: "operator_joined", Notice.LEFT: "operator_left"}


def language_of(persona_id: UUID, *, project_id: UUID, asked: str = "") -> str:
    """The customer's language, where the browser `asked` comes last. Must run in the tenant's transaction."""
    known = PersonaField.objects.filter(persona_id=persona_id, key="language").values_list("value", flat=True).first()
    return customer_language(project_id, known=known or "", asked=asked)


def apology_for(conversation: Conversation) -> str:
    """The message that stands in for a reply that failed for good."""
    with override(language_of(conversation.persona_id, project_id=conversation.project_id)):
        return gettext("Sorry, I can’t reply right now. The team has been told. Please try again in a moment.")


def add_notice(log: ConversationLog, notice: Notice, *, who: str = "") -> Message:
    """Tell the customer about a colleague, whose name may be unknown. The block tells programs the same."""
    with override(language_of(log.conversation.persona_id, project_id=log.conversation.project_id)):
        text = _notice_text(notice) % {"who": who or gettext("A colleague")}
    block = {"type": NOTICE, "notice": notice.value, "who": who}
    return log.add_message(MessageRole.SYSTEM, text, turn=None, idn=IDNS[notice], blocks=[block])


def _notice_text(notice: Notice) -> str:
    match notice:
        case Notice.ASKED:
            return gettext("A colleague was asked to join.")
        case Notice.JOINED:
            return gettext("%(who)s joined the conversation.")
        case Notice.LEFT:
            return gettext("%(who)s left the conversation.")
