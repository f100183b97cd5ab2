"""Notices about colleagues, as a conversation's customer reads them."""

from __future__ import annotations

from enum import StrEnum

from django.utils.translation import gettext, override

from conversations.common.translations import language_of
from conversations.live.event_log import ConversationLog
from conversations.models import Message, MessageRole

NOTICE = "notice"


class Notice(StrEnum):
    """Notices about colleagues: one was asked for, joined, or left."""

    ASKED = "asked"
    JOINED = "joined"
    LEFT = "left"


# Event names of the notices.
IDNS = {Notice.ASKED: "person_requested", Notice.JOINED: "operator_joined", Notice.LEFT: "operator_left"}


def add_notice(log: ConversationLog, notice: Notice, *, who: str = "") -> Message:
    """Tell the customer about a colleague, whose name may be unknown. The block says the same to programs."""
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
