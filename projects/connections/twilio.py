"""Signatures of Twilio's requests: a hash of the address and the form, keyed by the account's auth token; and the address
that Twilio reports a message's status to.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode, urlsplit

from django.conf import settings

from projects.connections.callbacks import can_call_back
from projects.connections.integrations import Connection

KIND = "twilio"
SIGNATURE = "X-Twilio-Signature"
STATUS = "/hooks/twilio/status"
# The names of the connection and of the effect in the address of a status. Its signature covers both.
SOURCE, EFFECT = "source", "effect"
DEFAULT_PORTS = {"https": 443, "http": 80, "wss": 443, "ws": 80}


def status_callback(connection: Connection) -> str:
    """The address for the status of a connection's messages; "" if its server can't reach it."""
    if not can_call_back(connection.settings.server):
        return ""
    return f"{settings.BASE_URL}{STATUS}?{urlencode({SOURCE: connection.source_id})}"


def signature(url: str, form: Mapping[str, Sequence[str]], *, token: str) -> str:
    """Twilio's signature of a request to `url` with these form fields; a WebSocket's handshake has none."""
    fields = "".join(f"{name}{value}" for name in sorted(form) for value in sorted(set(form[name])))
    return b64encode(hmac.digest(token.encode(), f"{url}{fields}".encode(), "sha1")).decode()


def is_signed(given: str, url: str, form: Mapping[str, Sequence[str]], *, token: str) -> bool:
    """True if the account with this auth token signed the request. Twilio names the port of some addresses only."""
    if not token:
        return False
    return any(hmac.compare_digest(given.encode(), signature(one, form, token=token).encode()) for one in _forms(url))


def _forms(url: str) -> set[str]:
    """The address with its port and without."""
    parts = urlsplit(url)
    port = parts.port or DEFAULT_PORTS.get(parts.scheme, 443)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return {url, parts._replace(netloc=f"{host}:{port}").geturl(), parts._replace(netloc=f"{host}").geturl()}
