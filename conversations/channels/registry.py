"""The providers by their kind."""

from __future__ import annotations

from collections.abc import Mapping

from conversations.channels.email import Email
from conversations.channels.provider import Provider
from conversations.channels.telegram import Telegram
from conversations.channels.twilio import TwilioMessages
from conversations.channels.whatsapp import WhatsApp

PROVIDERS: Mapping[str, Provider] = {
    provider.kind: provider for provider in (Telegram(), TwilioMessages(), WhatsApp(), Email())
}
# Channels whose messages go out by a provider, if the conversation has a chat there.
MESSENGERS = frozenset(provider.channel for provider in PROVIDERS.values())
