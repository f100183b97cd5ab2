"""Periodic re-authorization of API streams: each key is checked once for all streams it opened."""

from __future__ import annotations

import logging
import time
from contextlib import aclosing
from dataclasses import dataclass
from uuid import UUID

from django.db import Error

from conversations.live.stream import Frames
from projects.api.authentication import scopes_of_key
from tenancy.threads import in_db

log = logging.getLogger(__name__)

# Streams yield at least as often (keep-alives), so no stream goes much longer without a check.
LOOK_SECONDS = 30


@dataclass(frozen=True)
class Look:
    """The scopes of a key when it was last checked, by this process's clock."""

    at: float
    scopes: frozenset[str]


# By key. An authenticated request counts as a check, so opening a stream costs no query.
_looks: dict[UUID, Look] = {}


async def while_key_opens(stream: Frames, *, organization_id: UUID, key_id: UUID, scopes: frozenset[str]) -> Frames:
    """Pass on the stream while its key still has the given scopes.

    When the stream ends, the client reconnects and gets the error.
    """
    _looks[key_id] = Look(time.monotonic(), scopes)
    async with aclosing(stream):
        async for frames in stream:
            if not scopes <= await _scopes_now(organization_id, key_id):
                return
            yield frames


async def _scopes_now(organization_id: UUID, key_id: UUID) -> frozenset[str]:
    """The key's scopes, at most LOOK_SECONDS old. A database outage ends no stream."""
    known, now = _looks[key_id], time.monotonic()
    if now - known.at < LOOK_SECONDS:
        return known.scopes
    # Set before awaiting, so that the key's other streams use the known scopes meanwhile.
    _looks[key_id] = Look(now, known.scopes)
    try:
        _looks[key_id] = Look(now, await in_db(scopes_of_key, organization_id, key_id))
    except (Error, OSError) as error:
        log.warning("A stream's key couldn't be looked at (%s); it will be again.", type(error).__name__)
    return _looks[key_id].scopes
