"""The model client of the running event loop."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from django.conf import settings

from llm.client import Client
from outbound.guard import Guard

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Client] = WeakKeyDictionary()


def model_client() -> Client:
    """The loop's client, created at first use. All calls share its connections."""
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        client = _clients[loop] = Client(prices=settings.MODEL_PRICES, outbound=Guard(allow=settings.OUTBOUND_ALLOW))
    return client


async def close_model_client() -> None:
    """Close the client of the running loop, if any."""
    client = _clients.pop(asyncio.get_running_loop(), None)
    if client is not None:
        await client.aclose()
