"""Tokens of many concurrent replies."""

from __future__ import annotations

import asyncio

import redis.asyncio as aioredis
from django.conf import settings

from conversations.live.client import partial_of
from conversations.live.tokens import TokenWriter
from tenancy.ids import uuid7

REPLIES = 150


async def test_a_burst_of_replies_loses_no_tokens() -> None:
    """More concurrent replies than redis-py's default pool has connections."""
    conversations = [uuid7() for _ in range(REPLIES)]
    writers = [TokenWriter(conversation_id=one, turn_id=uuid7(), attempt=1) for one in conversations]
    for writer in writers:
        writer.write("Hello")
    await asyncio.gather(*(writer.close() for writer in writers))
    async with aioredis.Redis.from_url(settings.REDIS_URL) as client:
        passed_on = await client.exists(*map(partial_of, conversations))
    assert passed_on == REPLIES
