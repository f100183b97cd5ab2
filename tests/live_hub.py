"""Closes the live hub of a test's event loop."""

from __future__ import annotations

import asyncio

from conversations.live import hub as module


async def close_hub() -> None:
    """Cancel its tasks and close its Redis connections, which belong to the loop that ends with the test."""
    left = module._hubs.pop(asyncio.get_running_loop(), None)
    if left is None:
        return
    for task in (left._subscriptions._task, left._poller):
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
    await left._redis.aclose()
