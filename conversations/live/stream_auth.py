"""Re-authorization of open API streams: at once after a hint, and periodically, once per caller for all their streams."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import redis
from django.db import Error, transaction
from pydantic_core import to_json

from conversations.live.hub import Entry, Listener, hub
from conversations.live.stream import Frames
from projects.api.authentication import Caller, load_key_scopes, load_member_scopes
from projects.common.redis_publish import publish
from projects.models import ApiKey, Role, User
from tenancy.threads import in_db

log = logging.getLogger(__name__)

# Streams yield at least as often (keep-alives), so no stream goes much longer without a check.
RECHECK_SECONDS = 30
# The pub/sub channel that names callers who lost access. It carries a hint; the periodic check needs none.
CHANNEL = "makegood:access"


@dataclass(frozen=True)
class Admission:
    """A caller's access to a stream: a name for all streams of the caller, and how to load their scopes now."""

    name: str
    load_scopes: Callable[[], frozenset[str]]
    scopes: frozenset[str]


@dataclass(frozen=True)
class ScopeCheck:
    """The scopes of a caller when they were last checked, by this process's clock."""

    checked_at: float
    scopes: frozenset[str]


class OpenStream(Listener):
    """An open stream, which ends when a hint names its caller."""

    def __init__(self, admission: Admission) -> None:
        super().__init__()
        self._admission = admission
        self._is_over = self._is_interrupted = False
        self._waiting: asyncio.Task[object] | None = None

    def put(self, entries: list[Entry]) -> None:
        if any(entry["lost"] == self._admission.name for entry in entries):
            self._is_over = True
            if self._waiting is not None and not self._is_interrupted:
                self._is_interrupted = True
                self._waiting.cancel()

    async def frames(self, stream: Frames) -> Frames:
        """Pass on the stream while its caller has the scopes it was opened with."""
        async for frames in self._until_over(stream):
            if self._is_over or not self._admission.scopes <= await _scopes_now(self._admission):
                return
            yield frames

    async def _until_over(self, stream: Frames) -> Frames:
        """The stream. A hint interrupts the wait for its next frames, and nothing else."""
        while not self._is_over:
            task = self._waiting = asyncio.current_task()
            try:
                frames = await anext(stream)
            except StopAsyncIteration:
                return
            except asyncio.CancelledError:
                # A client that leaves at the same moment cancels, too.
                if not self._is_interrupted or (task is not None and task.uncancel()):
                    raise
                return
            finally:
                self._waiting = None
            yield frames


# By admission. An authenticated request counts as a check, so opening a stream costs no query.
_checks: dict[str, ScopeCheck] = {}


async def while_admitted(stream: Frames, caller: Caller) -> Frames:
    """Pass on the stream while the caller, an API key or a member, has the scopes it was opened with.

    When it ends, the client reconnects and gets the error.
    """
    admission = _admission_of(caller)
    _checks[admission.name] = ScopeCheck(time.monotonic(), admission.scopes)
    open_stream = OpenStream(admission)
    with hub().attach(CHANNEL, open_stream):
        async with aclosing(stream), aclosing(open_stream.frames(stream)) as admitted:
            async for frames in admitted:
                yield frames


def end_member_streams(user: User, organization_id: UUID, role: Role | None) -> None:
    """End a member's streams after the commit of a new role or a removal. A browser reconnects, if it still may."""
    _publish_loss(_member_name(user.pk, organization_id))


def end_key_streams(key: ApiKey) -> None:
    """End the streams of a revoked key after the commit."""
    _publish_loss(f"key:{key.pk}")


def _publish_loss(name: str) -> None:
    transaction.on_commit(lambda: _publish(name), robust=True)


def _publish(name: str) -> None:
    try:
        publish("PUBLISH", CHANNEL, to_json([{"lost": name}]))
    except (redis.RedisError, OSError) as error:
        log.warning("A lost access was not published (%s); streams end at their next check.", type(error).__name__)


def _admission_of(caller: Caller) -> Admission:
    organization_id = caller.organization_id
    if caller.key is not None:
        load = partial(load_key_scopes, organization_id, caller.key.pk)
        return Admission(f"key:{caller.key.pk}", load, caller.scopes)
    user_id = caller.user.pk if caller.user else 0
    load = partial(load_member_scopes, organization_id, user_id)
    return Admission(_member_name(user_id, organization_id), load, caller.scopes)


def _member_name(user_id: int, organization_id: UUID) -> str:
    return f"user:{user_id}:{organization_id}"


async def _scopes_now(admission: Admission) -> frozenset[str]:
    """The caller's scopes, at most RECHECK_SECONDS old. A database outage ends no stream."""
    known, now = _checks[admission.name], time.monotonic()
    if now - known.checked_at < RECHECK_SECONDS:
        return known.scopes
    # Set before awaiting, so that the caller's other streams use the known scopes meanwhile.
    _checks[admission.name] = ScopeCheck(now, known.scopes)
    try:
        _checks[admission.name] = ScopeCheck(now, await in_db(admission.load_scopes))
    except (Error, OSError) as error:
        log.warning("A stream's caller could not be checked (%s); retrying later.", type(error).__name__)
    return _checks[admission.name].scopes
