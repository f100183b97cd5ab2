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

from conversations.context.turn_context import TurnContext, context_after
from jobs.fence import reading
from jobs.lanes import ClaimedJob
from tenancy.threads import in_db
from tools.engine.business_state import normalize_channel
from tools.engine.catalogue import CompiledTool, compile_tools
from tools.engine.definition import Trigger

SHARED_SECONDS = 1.0
MAX_LOADS = 512

Key = tuple[UUID, UUID, int]


@dataclass(frozen=True)
class LoadedTurn:
    """A turn's context after its reply, and the tools that can fulfill its promises."""

    turn_context: TurnContext
    tools: Sequence[CompiledTool]


@dataclass(frozen=True)
class _Load:
    """A pending or finished load."""

    started_at: float
    task: asyncio.Task[LoadedTurn]


_loads: OrderedDict[Key, _Load] = OrderedDict()


async def load_after_reply(job: ClaimedJob) -> LoadedTurn:
    """The replied turn, loaded in a transaction of its own by the first flow that asks.

    Canceling one flow doesn't cancel the load for the others. A failed load is not cached.
    """
    key, now = (job.organization_id, job.subject_id, job.ordinal), time.monotonic()
    load = _loads.get(key)
    if load is None or now - load.started_at > SHARED_SECONDS:
        load = _loads[key] = _Load(now, asyncio.create_task(_start_load(key, job)))
        _loads.move_to_end(key)
        while len(_loads) > MAX_LOADS:
            _loads.popitem(last=False)
    return await asyncio.shield(load.task)


def channel_of(context: TurnContext) -> str:
    """The channel whose tools the turn may use."""
    return normalize_channel(context.conversation.channel)


async def _start_load(key: Key, job: ClaimedJob) -> LoadedTurn:
    try:
        return await in_db(_load_turn, job)
    except BaseException:
        _loads.pop(key, None)
        raise


def _load_turn(job: ClaimedJob) -> LoadedTurn:
    with reading(job):
        context = context_after(job)
        return LoadedTurn(
            context, compile_tools(context.project, channel=channel_of(context), moment=Trigger.COMMITMENT)
        )
