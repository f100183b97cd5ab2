"""Commits of flows that run side by side in one conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar
from uuid import UUID
from weakref import WeakValueDictionary

from projects.threads import in_db

P = ParamSpec("P")
R = TypeVar("R")

_locks: WeakValueDictionary[tuple[asyncio.AbstractEventLoop, UUID], asyncio.Lock] = WeakValueDictionary()


async def commit_in(conversation_id: UUID, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """`in_db` for what locks the conversation, one after the other.

    The flows after a reply often end at the same moment. Waiting here, they keep no thread and no connection from others, as they
    would while they wait for the row's lock, which is what keeps them apart in the end.
    """
    key = asyncio.get_running_loop(), conversation_id
    lock = _locks.get(key) or _locks.setdefault(key, asyncio.Lock())
    async with lock:
        return await in_db(function, *args, **kwargs)
