"""Model calls made during a web request, outside any transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from django.conf import settings

from llm.client import Client
from outbound.guard import Guard
from projects.agents.model_telemetry import observe_call

T = TypeVar("T")


async def with_model_client(work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
    """Run work with a model client of its own. It can take long, so no transaction may be open.

    It runs in a thread with its own event loop: importing the SDK takes a second, which would block the server's loop.
    """
    return await asyncio.to_thread(asyncio.run, _with_client(work))


async def _with_client(work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
    client = Client(prices=settings.MODEL_PRICES, outbound=Guard(allow=settings.OUTBOUND_ALLOW), observe=observe_call)
    try:
        return await work(client)
    finally:
        await client.aclose()
