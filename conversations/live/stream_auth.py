"""A program's stream ends soon after its key: the key is looked at again now and then, once for all streams that it opened."""

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

# A stream says that it is open more often than that, so that none is without a look for much longer.
LOOK_SECONDS = 30


@dataclass(frozen=True)
class Look:
    """What a key opened when it was last looked at, by this process's clock."""

    at: float
    scopes: frozenset[str]


# By key. A request that was let in is a look as well, and so opening a stream costs none.
_looks: dict[UUID, Look] = {}


async def while_key_opens(stream: Frames, *, organization_id: UUID, key_id: UUID, scopes: frozenset[str]) -> Frames:
    """The stream of a key that has just been let in with these scopes, until it no longer opens as much (threat 13).

    Its client asks again, as after any break, and is told why not.
    """
    _looks[key_id] = Look(time.monotonic(), scopes)
    async with aclosing(stream):
        async for frames in stream:
            if not scopes <= await _scopes_now(organization_id, key_id):
                return
            yield frames


async def _scopes_now(organization_id: UUID, key_id: UUID) -> frozenset[str]:
    """As they were at most a little while ago. A database that is away ends no stream."""
    known, now = _looks[key_id], time.monotonic()
    if now - known.at < LOOK_SECONDS:
        return known.scopes
    # Before anything is waited for: the key's other streams go by what is known meanwhile.
    _looks[key_id] = Look(now, known.scopes)
    try:
        _looks[key_id] = Look(now, await in_db(load_key_scopes, organization_id, key_id))
    except (Error, OSError) as error:
        log.warning("A stream's key couldn't be looked at (%s); it will be again.", type(error).__name__)
    return _looks[key_id].scopes
