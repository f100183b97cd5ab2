"""One reading of a turn for the flows that run side by side after its reply.

The three of them begin within milliseconds and need the same rows; read once, that is a third of their work. A reading is
shared for a second: a flow that runs again later reads anew. Whoever gets it only reads it; changes go through the log.
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
from tools.engine.business_state import normalize_channel
from tools.engine.catalogue import CompiledTool, compile_tools
from tools.engine.definition import Trigger

SHARED_SECONDS = 1.0
KEPT = 512

Key = tuple[UUID, UUID, int]


@dataclass(frozen=True)
class Reading:
    """A turn's surroundings after its reply, and the tools that may make true what was said in it."""

    turn_context: TurnContext
    tools: Sequence[CompiledTool]


@dataclass(frozen=True)
class _Kept:
    """A reading that is under way, or over."""

    begun_at: float
    task: asyncio.Task[Reading]


_readings: OrderedDict[Key, _Kept] = OrderedDict()


async def read_after_reply(job: ClaimedJob) -> Reading:
    """The turn that was replied to, read for whichever of its flows comes first, in a transaction of its own.

    A flow that is cancelled meanwhile takes it from no other; one that failed is not shared with who comes later.
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
    """The channel whose tools the scene's turn may use (N14)."""
    return normalize_channel(context.conversation.channel)


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
