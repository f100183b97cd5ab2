"""A short-lived cache of turn contexts, for the flows that run side by side after a reply.

The three flows start within milliseconds and need the same rows; loading them once saves a third of their work. An
entry is shared for one second, so a flow that runs again later loads anew. Callers must not modify it; writes go
through the log.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from conversations.context.turn_context import TurnContext, scene_after
from jobs.fence import reading
from jobs.lanes import ClaimedJob
from tenancy.threads import in_db
from tools.engine.business_state import normalise_channel
from tools.engine.catalogue import CompiledTool, compile_tools
from tools.engine.definition import Trigger

SHARED_SECONDS = 1.0
KEPT = 512

Key = tuple[UUID, UUID, int]


@dataclass(frozen=True)
class Reading:
    """A turn's context after its reply, and the tools that can fulfill its promises."""

    turn_context: TurnContext
    tools: Sequence[CompiledTool]


@dataclass(frozen=True)
class _Kept:
    """A pending or finished load."""

    begun_at: float
    task: asyncio.Task[Reading]


_readings: OrderedDict[Key, _Kept] = OrderedDict()


async def read_after_reply(job: ClaimedJob) -> Reading:
    """The replied turn, loaded in a transaction of its own by the first flow that asks.

    Cancelling one flow doesn't cancel the load for the others. A failed load is not cached.
    """
    key, now = (job.organization_id, job.subject_id, job.ordinal), time.monotonic()
    kept = _readings.get(key)
    if kept is None or now - kept.begun_at > SHARED_SECONDS:
        kept = _readings[key] = _Kept(now, asyncio.create_task(_read(key, job)))
        _readings.move_to_end(key)
        while len(_readings) > KEPT:
            _readings.popitem(last=False)
    return await asyncio.shield(kept.task)


def channel_of(context: TurnContext) -> str:
    """The channel whose tools the turn may use."""
    return normalise_channel(context.conversation.channel)


async def _read(key: Key, job: ClaimedJob) -> Reading:
    try:
        return await in_db(_reading, job)
    except BaseException:
        _readings.pop(key, None)
        raise


def _reading(job: ClaimedJob) -> Reading:
    with reading(job):
        context = scene_after(job)
        return Reading(context, compile_tools(context.project, channel=channel_of(context), moment=Trigger.COMMITMENT))
