"""The offline providers of messages: SMS, WhatsApp and Telegram of this installation, whose customer types."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from django.conf import settings

# The path of each kind's API below the providers' address.
PATHS: Mapping[str, str] = {"twilio": "/twilio", "whatsapp": "/whatsapp/v23.0", "telegram": "/telegram"}


def offline_server(kind: str) -> str:
    """The address of a kind's offline provider; empty if none runs."""
    base = settings.OFFLINE_MESSENGERS_URL
    return f"{base}{PATHS[kind]}" if base and kind in PATHS else ""


def offline_targets(server: str) -> list[str]:
    """The outbound guard's exception for requests to `server`: its host and port if it is an offline provider.

    Empty for any other server, and whenever no offline provider runs.
    """
    ours = {offline_server(kind).lower() for kind in PATHS} - {""}
    return [urlsplit(server).netloc] if server in ours else []
