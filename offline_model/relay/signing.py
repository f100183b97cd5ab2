"""Signs requests as Twilio does."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping


def signature(url: str, form: Mapping[str, str], *, token: str) -> str:
    """The signature of a request with these form fields; a WebSocket's handshake has none."""
    text = url + "".join(f"{name}{form[name]}" for name in sorted(form))
    return base64.b64encode(hmac.new(token.encode(), text.encode(), hashlib.sha1).digest()).decode()
