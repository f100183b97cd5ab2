"""Signs webhooks as the provider does (Standard Webhooks)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Any


def incoming_call(call_id: str, *, event_id: str, headers: dict[str, str]) -> bytes:
    """The body of the webhook of a call that rings."""
    event: dict[str, Any] = {
        "object": "event",
        "id": event_id,
        "type": "realtime.call.incoming",
        "created_at": int(time.time()),
        "data": {"call_id": call_id, "sip_headers": [{"name": name, "value": text} for name, text in headers.items()]},
    }
    return json.dumps(event).encode()


def signed_headers(body: bytes, *, secret: str, event_id: str, at: float | None = None) -> dict[str, str]:
    """The headers of a signed webhook."""
    stamp = str(int(time.time() if at is None else at))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{event_id}.{stamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "content-type": "application/json",
        "webhook-id": event_id,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
