"""A Telegram bot."""

from __future__ import annotations

from django.utils.translation import gettext_noop
from pydantic import Field

from projects.connections.settings.base import Line, ProviderSettings

TELEGRAM_URL = "https://api.telegram.org"


class TelegramSettings(ProviderSettings):
    """A Telegram bot that customers write to."""

    default_url = TELEGRAM_URL

    base_url: Line = Field(
        TELEGRAM_URL,
        title=gettext_noop("API address"),
        description=gettext_noop("Change it for your own Bot API server."),
    )
