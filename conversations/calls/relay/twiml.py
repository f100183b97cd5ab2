"""Twilio's instructions for a call (TwiML), as our webhooks answer them."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID
from xml.sax.saxutils import escape, quoteattr

from django.conf import settings

HOOKS = "/hooks/twilio/calls"
ARRIVED, NEXT, DIALED = HOOKS, f"{HOOKS}/next", f"{HOOKS}/dialed"
SOCKET = "/hooks/twilio/relay"
CONTENT_TYPE = "text/xml"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
DIAL_SECONDS = 30
# Reports of speech and of keys, besides the messages that Twilio always sends.
REPORTED = "speaker-events tokens-played"
# Twilio's locales by our language codes.
LOCALES: Mapping[str, str] = {
    "en": "en-US",
    "it": "it-IT",
    "de": "de-DE",
    "fr": "fr-FR",
    "es": "es-ES",
    "pt": "pt-PT",
    "nl": "nl-NL",
    "ar": "ar-SA",
    "he": "he-IL",
}


def address_of(path: str) -> str:
    """Our public address of a webhook."""
    return f"{settings.BASE_URL}{path}"


def socket_address(account_sid: str, call_id: UUID) -> str:
    """The address of a call's WebSocket, which the handshake's signature covers."""
    parts = urlsplit(address_of(f"{SOCKET}/{account_sid}/{call_id}"))
    return urlunsplit(parts._replace(scheme="ws" if parts.scheme == "http" else "wss"))


def locale_of(language: str) -> str:
    """Twilio's locale of a language code."""
    return language if "-" in language else LOCALES.get(language.lower(), LOCALES["en"])


def connect(socket: str, *, language: str, voice: str = "") -> str:
    """Connect the call to our WebSocket."""
    attributes = {
        "url": socket,
        "language": locale_of(language),
        **({"voice": voice} if voice else {}),
        "interruptible": "any",
        "dtmfDetection": "true",
        "debug": REPORTED,
    }
    relay = _element("ConversationRelay", attributes)
    return _response(_element("Connect", {"action": address_of(NEXT)}, relay))


def dial(number: str) -> str:
    """Put the caller through to a number in E.164."""
    return _response(_element("Dial", {"action": address_of(DIALED), "timeout": str(DIAL_SECONDS)}, escape(number)))


def say_and_hang_up(text: str, *, language: str) -> str:
    """Say a sentence and end the call."""
    return _response(_element("Say", {"language": locale_of(language)}, escape(text)) + _element("Hangup", {}))


def hang_up() -> str:
    """End the call."""
    return _response(_element("Hangup", {}))


def reject() -> str:
    """Turn the call away before it is answered; the caller hears that the line is busy."""
    return _response(_element("Reject", {"reason": "busy"}))


def _response(content: str) -> str:
    return f"{HEAD}{_element('Response', {}, content)}"


def _element(name: str, attributes: Mapping[str, str], content: str = "") -> str:
    given = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return f"<{name}{given}>{content}</{name}>" if content else f"<{name}{given}/>"
