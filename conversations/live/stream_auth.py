"""Periodic re-authorization of API streams: each key is checked once for all streams it opened."""

from __future__ import annotations

import logging
import time
from contextlib import aclosing
from dataclasses import dataclass
from uuid import UUID

from django.db import Error

from conversations.live.stream import Frames
from projects.api.authentication import load_key_scopes
from tenancy.threads import in_db

log = logging.getLogger(__name__)

# Streams yield at least as often (keep-alives), so no stream goes much longer without a check.
RECHECK_SECONDS = 30


@dataclass(frozen=True)
class KeyCheck:
    """The scopes of a key when it was last checked, by this process's clock."""

    checked_at: float
    scopes: frozenset[str]


# By key. An authenticated request counts as a check, so opening a stream costs no query.
_checks: dict[UUID, KeyCheck] = {}


async def while_key_valid(stream: Frames, *, organization_id: UUID, key_id: UUID, scopes: frozenset[str]) -> Frames:
    """Pass on the stream while its key still has the given scopes.

    When the stream ends, the client reconnects and gets the error.
    """
    _checks[key_id] = KeyCheck(time.monotonic(), scopes)
    async with aclosing(stream):
        async for frames in stream:
            if not scopes <= await _scopes_now(organization_id, key_id):
                return
            yield frames


async def _scopes_now(organization_id: UUID, key_id: UUID) -> frozenset[str]:
    """The key's scopes, at most RECHECK_SECONDS old. A database outage ends no stream."""
    known, now = _checks[key_id], time.monotonic()
    if now - known.checked_at < RECHECK_SECONDS:
        return known.scopes
    # Set before awaiting, so that the key's other streams use the known scopes meanwhile.
    _checks[key_id] = KeyCheck(now, known.scopes)
    try:
        _checks[key_id] = KeyCheck(now, await in_db(load_key_scopes, organization_id, key_id))
    except (Error, OSError) as error:
        log.warning("A stream's key could not be checked (%s); retrying later.", type(error).__name__)
    return _checks[key_id].scopes
