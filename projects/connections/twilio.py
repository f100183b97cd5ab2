"""Signatures of Twilio's requests: a hash of the address and the form, keyed by the account's auth token."""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

KIND = "twilio"
SIGNATURE = "X-Twilio-Signature"
DEFAULT_PORTS = {"https": 443, "http": 80, "wss": 443, "ws": 80}


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
