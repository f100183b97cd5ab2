"""The notice in a call's transcript that words may be missing."""

from __future__ import annotations

from django.utils.translation import gettext, override

from conversations.common.translations import language_of
from conversations.live.event_log import ConversationLog
from conversations.models import Message, MessageRole

IDN = "call_words_missing"


def add_words_missing(log: ConversationLog) -> Message:
    """Say that words may be missing here, in the customer's language."""
    with override(language_of(log.conversation.persona_id, project_id=log.conversation.project_id)):
        text = gettext("The line was cut for a moment. Words may be missing here.")
    block = {"type": "notice", "notice": "words_missing", "who": ""}
    return log.add_message(MessageRole.SYSTEM, text, turn=None, idn=IDN, blocks=[block])
