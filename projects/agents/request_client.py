"""Model calls that a web request waits for, outside of any transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from django.conf import settings

from llm.client import Client
from outbound.guard import Guard

T = TypeVar("T")


async def with_model_client(work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
    """Do work that asks models, with a client of its own. No transaction may be open: it can take long.

    It runs in a thread with a loop of its own: loading the SDK takes a second, in which the web's loop would stand still.
    """
    return await asyncio.to_thread(asyncio.run, _with_client(work))


async def _with_client(work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
    client = Client(prices=settings.MODEL_PRICES, outbound=Guard(allow=settings.OUTBOUND_ALLOW))
    try:
        return await work(client)
    finally:
        await client.aclose()
