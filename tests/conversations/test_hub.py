"""Streams that subscribe to a conversation's hub and unsubscribe."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest
import redis
import redis.asyncio as aioredis
from django.conf import settings

from conversations.live.client import channel_of, new_client
from conversations.live.hub import Entry, hub
from projects.common.redis_publish import publish
from tenancy.ids import uuid7
from tests.live_hub import close_hub

PATIENCE = 5
BEGUN: Entry = {"type": "begun"}


@pytest.fixture(autouse=True)
async def closing() -> AsyncIterator[None]:
    yield
    await close_hub()


async def _hear(conversation: UUID) -> None:
    async with hub().subscribe(conversation):
        await asyncio.Event().wait()


async def _connect() -> None:
    async with hub().subscribe(uuid7()) as listener:
        assert listener.is_confirmed


async def _leave_after(conversation: UUID, *, steps: int) -> None:
    """Subscribe, and be canceled after so many loop iterations."""
    coming = asyncio.ensure_future(_hear(conversation))
    for _ in range(steps):
        await asyncio.sleep(0)
    coming.cancel()
    await asyncio.wait({coming})


def _tell(conversation: UUID) -> None:
    publish("PUBLISH", channel_of(conversation), b'[{"type": "begun"}]')


@pytest.mark.parametrize("steps", range(12))
@pytest.mark.parametrize("is_settled", [False, True])
async def test_a_stream_opened_after_an_aborted_one_gets_events(steps: int, is_settled: bool) -> None:
    """A page reloaded while its stream is being opened, at every stage of opening."""
    conversation = uuid7()
    await _connect()
    await _leave_after(conversation, steps=steps)
    if is_settled:
        async with hub().subscribe(uuid7()):
            pass  # Redis replies in order, so its replies to the canceled stream have been read
    async with hub().subscribe(conversation) as listener:
        assert listener.is_confirmed
        _tell(conversation)
        assert await listener.next_within(PATIENCE) == [BEGUN]


async def test_a_closing_stream_does_not_affect_the_others() -> None:
    conversation = uuid7()
    async with hub().subscribe(conversation) as listener:
        async with hub().subscribe(conversation):
            pass
        await _leave_after(conversation, steps=1)
        _tell(conversation)
        assert await listener.next_within(PATIENCE) == [BEGUN]


async def test_closed_streams_leave_no_subscription() -> None:
    conversations = [uuid7() for _ in range(60)]
    await _connect()
    await asyncio.gather(*(_leave_after(one, steps=number % 12) for number, one in enumerate(conversations)))
    await _until_heard(set())


async def test_streams_opened_during_an_outage_get_events_afterwards() -> None:
    """So do streams opened before it."""
    conversation, coming, probed = uuid7(), uuid7(), uuid7()
    async with hub().subscribe(conversation) as before, hub().subscribe(probed):
        with _no_redis() as let_in:
            await _until_not_told(probed)
            async with hub().subscribe(coming) as listener:
                assert not listener.is_confirmed
                let_in()
                await _until_heard({channel_of(one) for one in (conversation, coming, probed)})
                for one, heard in ((conversation, before), (coming, listener)):
                    _tell(one)
                    assert await heard.next_within(PATIENCE) == [BEGUN]


@contextmanager
def _no_redis() -> Iterator[Callable[[], None]]:
    """As after a restart: connections end, and new ones fail until the yielded function is called."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:

        def let_in() -> None:
            client.config_set("maxclients", 10_000)

        client.config_set("maxclients", 1)
        client.client_kill_filter(_type="pubsub")
        try:
            yield let_in
        finally:
            let_in()


async def _until_not_told(conversation: UUID) -> None:
    """Wait until the hub has noticed the outage."""
    async with asyncio.timeout(PATIENCE):
        while True:
            async with hub().subscribe(conversation) as listener:
                if not listener.is_confirmed:
                    return
            await asyncio.sleep(0.01)


async def _until_heard(names: set[str]) -> None:
    """Wait until Redis has exactly these subscriptions."""
    client: aioredis.Redis = new_client()
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                found = {name.decode() for name in await client.pubsub_channels("makegood:live:*")}
                if names == found:
                    return
                await asyncio.sleep(0.01)
    finally:
        await client.aclose()
