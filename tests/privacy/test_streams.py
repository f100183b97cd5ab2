"""Live streams of an erased customer's conversations, and what Redis holds of them."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress

import redis
from django.conf import settings

from conversations.live.client import partial_of, publish_deletion
from conversations.live.hub import REFRESH, hub
from conversations.live.stream import EventStream, StreamCursor
from conversations.models import Conversation
from conversations.turns.services import post_message, start_conversation
from tenancy.threads import in_db
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant
from tests.privacy.conftest import erase


def begin(tenant: Tenant) -> Conversation:
    with tenant.tx():
        return start_conversation(tenant.project, channel="chat", external_id="guest", known={}, metadata={})


def cursor_of(tenant: Tenant, conversation: Conversation) -> StreamCursor:
    return StreamCursor(tenant.organization.pk, conversation.pk, after=0)


async def drain(cursor: StreamCursor, *, opened: asyncio.Event) -> None:
    """Read the stream until it ends."""
    async with aclosing(EventStream(cursor).frames()) as frames:
        async for _ in frames:
            opened.set()


async def test_a_deletion_ends_open_streams_at_once(tenant: Tenant) -> None:
    conversation = await in_db(begin, tenant)
    opened = asyncio.Event()
    reading = asyncio.create_task(drain(cursor_of(tenant, conversation), opened=opened))
    await opened.wait()
    await hub().is_confirmed(f"makegood:live:{conversation.pk}")
    await in_db(publish_deletion, [conversation.pk])
    async with asyncio.timeout(30):
        await reading


async def test_the_database_poll_ends_the_streams_of_a_deleted_conversation(tenant: Tenant) -> None:
    """Without a word from Redis."""
    conversation = await in_db(begin, tenant)
    opened = asyncio.Event()
    reading = asyncio.create_task(drain(cursor_of(tenant, conversation), opened=opened))
    await opened.wait()
    await in_db(_delete, tenant, conversation)
    async with asyncio.timeout(60):
        await reading


def _delete(tenant: Tenant, conversation: Conversation) -> None:
    with tenant.tx():
        Conversation.objects.filter(pk=conversation.pk)._raw_delete("default")


def test_an_erasure_removes_the_text_of_a_reply_in_progress(tenant: Tenant) -> None:
    conversation = begin(tenant)
    client = redis.Redis.from_url(settings.REDIS_URL)
    client.set(partial_of(conversation.pk), "Dear Ada")
    erase(tenant, conversation.persona_id)
    assert client.get(partial_of(conversation.pk)) is None
    client.close()


async def test_a_stream_goes_on_behind_events_that_were_deleted(tenant: Tenant) -> None:
    """Old events go one night. A client that asks for them isn't behind for ever."""
    conversation = await in_db(begin, tenant)
    last = await in_db(_forget_events, tenant, conversation)
    stream = EventStream(cursor_of(tenant, conversation))
    async with aclosing(stream.frames()) as frames:
        await anext(frames)
        stream._listener.put([REFRESH])
        reading = asyncio.ensure_future(anext(frames))
        async with asyncio.timeout(30):
            while stream._after != last:
                await asyncio.sleep(0.01)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading


def _forget_events(tenant: Tenant, conversation: Conversation) -> int:
    with tenant.tx():
        post_message(conversation.pk, "Hello")
        last = Conversation.objects.get(pk=conversation.pk).last_event
    bypass_rls("delete from conversations_event")
    return last
