"""The time within which a provider delivers free text: WhatsApp's 24 hours after the customer's last message."""

from __future__ import annotations

from django.utils import timezone

from conversations.channels.registry import PROVIDERS
from conversations.models import Chat


def is_window_open(chat: Chat) -> bool:
    """True if free text reaches the chat now."""
    window = PROVIDERS[chat.kind].window_for(chat.external_id) if chat.kind in PROVIDERS else None
    return window is None or (chat.heard_at is not None and timezone.now() - chat.heard_at <= window)
