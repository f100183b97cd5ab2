"""Conversations and messages of the widget measurement. Import it after Django is set up."""

from __future__ import annotations

from functools import cache
from uuid import UUID

from conversations.live.event_log import open_log
from conversations.models import Channel, MessageRole
from conversations.turns.services import start_conversation
from conversations.widget.visitors import read_visitor
from projects.models import Widget
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import WidgetRef, find_widget
from tenancy.threads import in_db


async def begin(key: str, token: str) -> str:
    """Create a conversation for the visitor with this token, without a message that an agent would answer. Return its
    id.
    """
    return await in_db(_begin, key, token)


def say(key: str, conversation: str, words: str) -> None:
    """Add an operator's message to a conversation of the widget's tenant."""
    with tenant_tx(_place(key).organization_id), open_log(UUID(conversation)) as log:
        log.add_message(MessageRole.OPERATOR, words, turn=None, idn="operator_message", author="Lucia")


def _begin(key: str, token: str) -> str:
    with tenant_tx(_place(key).organization_id):
        widget = Widget.objects.select_related("project").get(public_key=key)
        visitor = read_visitor(token, widget)
        begun = start_conversation(
            widget.project, channel=Channel.CHAT, external_id=visitor.name, known={}, metadata={}
        )
        return str(begun.pk)


@cache
def _place(key: str) -> WidgetRef:
    place = find_widget(key)
    if place is None:
        raise LookupError("The demo's widget is gone.")
    return place
