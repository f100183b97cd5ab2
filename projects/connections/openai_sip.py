"""The secrets of a connection to OpenAI's calls: the API key and, for calls by phone, the webhook's signing secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

KIND = "openai_sip"
API_KEY, WEBHOOK_SECRET = "api_key", "webhook_secret"
FORM = "Use an API key (sk-…) and, for calls by phone, the webhook's signing secret (whsec_…)."


@dataclass(frozen=True)
class SipSecrets:
    """The secrets. They must not reach logs, pages or errors. Calls from browsers need no `webhook_secret`."""

    api_key: str = field(default="", repr=False)
    webhook_secret: str = field(default="", repr=False)

    @property
    def stored(self) -> str:
        """The form that a connection stores."""
        return f"{self.api_key} {self.webhook_secret}".strip()


def read_secrets(text: str) -> SipSecrets:
    """The secrets in a text, in any order. Raises ValueError without their values."""
    words = text.replace(",", " ").split()
    signing = [word for word in words if word.startswith("whsec_")]
    keys = [word for word in words if not word.startswith("whsec_")]
    if len(signing) > 1 or len(keys) != 1:
        raise ValueError(FORM)
    return SipSecrets(keys[0], *signing)


def secrets_from(document: Any) -> SipSecrets:
    """The secrets of a request: `{"api_key", "webhook_secret"}`, or a text with both. Raises ValueError."""
    if isinstance(document, str):
        return read_secrets(document)
    if not isinstance(document, Mapping) or set(document) - {API_KEY, WEBHOOK_SECRET}:
        raise ValueError(FORM)
    return read_secrets(f"{document.get(API_KEY) or ''} {document.get(WEBHOOK_SECRET) or ''}")
