"""Standard Webhooks signatures, which prove the sender and identify retries."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime

PREFIX = "whsec_"


def signature_headers(secrets: Sequence[str], *, id: str, at: datetime, body: bytes) -> dict[str, str]:
    """The three headers. `id` is the effect's key, the same at every attempt.

    Each secret (`whsec_…`) adds a signature; without secrets the signature header is omitted.
    """
    timestamp = str(int(at.timestamp()))
    headers = {"webhook-id": id, "webhook-timestamp": timestamp}
    if secrets:
        signatures = (_signature(secret, f"{id}.{timestamp}.".encode() + body) for secret in secrets)
        headers["webhook-signature"] = " ".join(signatures)
    return headers


def _signature(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
