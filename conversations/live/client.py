"""How an event loop speaks with Redis."""

from __future__ import annotations

from typing import Any

import redis.asyncio as aioredis
from django.conf import settings

# Commands are short: these few carry those of hundreds of replies.
CONNECTIONS = 20
WAIT_SECONDS = 2


def new_client(**options: Any) -> aioredis.Redis:
    """A client whose commands wait for a connection that is free; the library's own refuses the hundred-and-first of a moment.

    Where none is free in time it raises redis.ConnectionError, as where Redis is away.
    """
    return aioredis.Redis.from_pool(
        aioredis.BlockingConnectionPool.from_url(
            settings.REDIS_URL,
            max_connections=CONNECTIONS,
            timeout=WAIT_SECONDS,
            socket_connect_timeout=1,
            **options,
        )
    )
