"""The model client of the running event loop."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from django.conf import settings

from llm.client import Client
from outbound.guard import Guard

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Client] = WeakKeyDictionary()


def model_client() -> Client:
    """One client per loop: connections to the model are kept and shared by all its calls."""
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        client = _clients[loop] = Client(prices=settings.MODEL_PRICES, outbound=Guard(allow=settings.OUTBOUND_ALLOW))
    return client


async def close_model_client() -> None:
    """Close the running loop's connections to models, if there are any."""
    client = _clients.pop(asyncio.get_running_loop(), None)
    if client is not None:
        await client.aclose()
