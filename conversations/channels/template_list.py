"""The templates that can be sent in a chat of WhatsApp, by Meta or by Twilio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from conversations.channels.linking import OpenChannel
from conversations.channels.registry import PROVIDERS
from conversations.channels.templates import Template
from conversations.channels.twilio_templates import list_twilio_templates
from conversations.channels.whatsapp import KIND as META
from conversations.channels.whatsapp_templates import list_meta_templates
from conversations.models import Chat
from projects.connections.integrations import Connection
from projects.connections.twilio import KIND as TWILIO

LISTS: Mapping[str, Callable[[Connection], Awaitable[Sequence[Template]]]] = {
    META: list_meta_templates,
    TWILIO: list_twilio_templates,
}


def sends_templates(chat: Chat) -> bool:
    """True for a chat of WhatsApp, which takes free text only for a while."""
    return chat.kind in LISTS and PROVIDERS[chat.kind].window_for(chat.external_id) is not None


async def list_templates(channel: OpenChannel) -> list[Template]:
    """The templates of the account, those that can be sent first. Raises NoTemplates."""
    found = await LISTS[channel.kind](channel.connection)
    return sorted(found, key=lambda one: (bool(one.problem), one.name, one.language))
