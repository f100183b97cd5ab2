"""Keywords that are obeyed on the server, before any model: STOP, START and HELP."""

from __future__ import annotations

import re
from enum import StrEnum

from django.utils.translation import gettext, override

from conversations.common.translations import language_of
from conversations.models import Channel, Conversation


class Keyword(StrEnum):
    STOP = "stop"
    START = "start"
    HELP = "help"


# The carriers' words that nobody says to an agent for another reason. They are keywords on every channel.
WORDS = {
    **dict.fromkeys(("stop", "stopall", "unsubscribe", "optout", "opt-out"), Keyword.STOP),
    **dict.fromkeys(("start", "unstop"), Keyword.START),
    "help": Keyword.HELP,
}
OF_CARRIERS = {
    **dict.fromkeys(("cancel", "end", "quit", "revoke", "stopp", "arret"), Keyword.STOP),
    "info": Keyword.HELP,
}
# An e-mail's "help" is a question.
OF_MAIL = {"stop": Keyword.STOP, "unsubscribe": Keyword.STOP, "start": Keyword.START}
EDGES = re.compile(r"^[\s/]+|[\s.!]+$")


def keyword_of(text: str, *, channel: Channel) -> Keyword | None:
    """The keyword that is the whole of a message, or None."""
    word = EDGES.sub("", text).lower()
    if channel is Channel.EMAIL:
        return OF_MAIL.get(word)
    return WORDS.get(word) or (OF_CARRIERS.get(word) if channel is Channel.SMS else None)


def answer_to(keyword: Keyword, conversation: Conversation) -> str:
    """The answer to a keyword, in the customer's language."""
    business = conversation.project.name
    with override(language_of(conversation.persona_id, project_id=conversation.project_id)):
        if keyword is Keyword.STOP:
            return gettext("You won’t get any more messages here. Reply START to get them again.")
        if keyword is Keyword.START:
            return gettext("You get messages here again. Reply STOP to end them.")
        return gettext("This is %(business)s. Write your question here. Reply STOP to get no more messages.") % {
            "business": business
        }
