"""Signing secrets of Standard Webhooks (`whsec_…`), and their rotation."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TypedDict

from django.utils import timezone

PREFIX = "whsec_"
SECRET_BYTES = 32
# After a rotation, requests are also signed with the previous secret for this long.
OVERLAP = timedelta(hours=24)


class StoredSecret(TypedDict):
    """A secret as stored before encryption. `until` is the ISO time it expires, None for the current one."""

    secret: str
    until: str | None


def rotated(signing: Sequence[StoredSecret]) -> list[StoredSecret]:
    """A new secret, followed by the current one, which stays valid for OVERLAP."""
    secret = PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
    until = (timezone.now() + OVERLAP).isoformat()
    previous = [StoredSecret(secret=one["secret"], until=until) for one in signing[:1]]
    return [StoredSecret(secret=secret, until=None), *previous]


def valid_secrets(signing: Iterable[StoredSecret]) -> list[str]:
    """The secrets that are valid now, newest first."""
    now = timezone.now()
    return [one["secret"] for one in signing if one["until"] is None or datetime.fromisoformat(one["until"]) > now]
