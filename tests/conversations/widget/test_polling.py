"""Streams that miss a Redis message read it from the database, with one query for all streams of a tenant."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import aclosing
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError

from conversations.live import hub as hub_module
from conversations.live.event_log import open_log
from conversations.live.hub import StreamPosition, hub, load_stream_positions
from conversations.live.stream import EventStream, Frame, StreamCursor
from conversations.models import Channel, Conversation, MessageRole
from conversations.portal.chat_start import ChatState, frames_until_begun, frames_until_replaced
from conversations.turns.services import start_conversation
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tests.conftest import Tenant
from tests.live_hub import close_hub
from tools.services.signed_links import PortalTarget

PATIENCE = 20


@pytest.fixture(autouse=True)
def _quickly_and_deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Suppress Redis messages and start a polling round at once."""
    monkeypatch.setattr(hub_module, "POLL_SECONDS", 0.02)
    monkeypatch.setattr("conversations.live.client.publish", lambda *command: None)


def begin(tenant: Tenant, guest: str, channel: Channel = Channel.CHAT) -> Conversation:
    with tenant.tx():
        return start_conversation(tenant.project, channel=channel, external_id=guest, known={}, metadata={})


def say(organization_id: UUID, conversation_id: UUID, words: str) -> None:
    with tenant_tx(organization_id), open_log(conversation_id) as log:
        log.add_message(MessageRole.OPERATOR, words, turn=None, idn="operator_message")


async def heard(conversations: list[Conversation], words: str) -> None:
    """Post to all conversations while a stream of each waits, and return when every stream has shown the message."""
    reading = [asyncio.create_task(_shows(one, words)) for one in conversations]
    try:
        async with asyncio.timeout(PATIENCE):
            while not _all_wait(len(conversations)):
                await asyncio.sleep(0.01)
            for one in conversations:
                await in_db(say, one.organization_id, one.pk, words)
            await asyncio.gather(*reading)
    finally:
        await close_hub()


async def _shows(conversation: Conversation, words: str) -> None:
    place = StreamCursor(conversation.organization_id, conversation.pk, after=0, is_reset=True)
    async with aclosing(EventStream(place).frames()) as stream:
        async for frames in stream:
            if any(words in str(frame.data) for frame in frames):
                return


def _all_wait(count: int) -> bool:
    """True if every stream has caught up and is waiting."""
    waiting = [one._queue._getters for listeners in hub()._listeners.values() for one in listeners]  # type: ignore[attr-defined]
    return len(waiting) == count and all(waiting)


def test_a_message_without_notification_is_found(tenant: Tenant, stranger: Tenant) -> None:
    """In conversations of one tenant and of another."""
    asyncio.run(heard([begin(tenant, "ada"), begin(tenant, "bob"), begin(stranger, "eve")], "Here I am."))


def test_a_chat_that_begins_on_another_page_is_found(tenant: Tenant) -> None:
    """By that customer's pages only."""
    first, other = begin(tenant, "ada"), begin(tenant, "eve")

    async def wait_for_it() -> None:
        reading = [asyncio.create_task(_begun(one)) for one in (first, other)]
        try:
            async with asyncio.timeout(PATIENCE):
                while not _all_wait(2):
                    await asyncio.sleep(0.01)
                await in_db(begin, tenant, "ada", Channel.PORTAL)
                assert await reading[0]
            assert not reading[1].done()
        finally:
            reading[1].cancel()
            await asyncio.gather(*reading, return_exceptions=True)
            await close_hub()

    asyncio.run(wait_for_it())


async def _begun(conversation: Conversation) -> bool:
    place = PortalTarget(conversation.organization_id, conversation.persona_id)
    async with aclosing(frames_until_begun(place, ChatState(chat=None, chat_count=0))) as stream:
        return [frames[-1].event == "begun" async for frames in stream][-1]


def test_a_page_with_a_chat_is_told_of_its_replacement(tenant: Tenant) -> None:
    """On another page of the customer, which showed the previous chat until then."""
    chat = begin(tenant, "ada", Channel.PORTAL)

    async def wait_for_it() -> tuple[list[Frame], Frame]:
        place = PortalTarget(chat.organization_id, chat.persona_id)
        following = frames_until_replaced(place, StreamCursor(chat.organization_id, chat.pk, after=0))
        try:
            async with asyncio.timeout(PATIENCE), aclosing(following) as stream:
                await anext(stream)
                await in_db(say, chat.organization_id, chat.pk, "Here I am.")
                seen = ""
                while "Here I am." not in seen:
                    seen += str(await anext(stream))
                another = await in_db(begin, tenant, "ada", Channel.PORTAL)
                return [frames async for frames in stream][-1], Frame("begun", {"chat": str(another.pk)})
        finally:
            await close_hub()

    told, expected = asyncio.run(wait_for_it())
    assert told == [expected]


def test_all_streams_of_a_tenant_share_one_query(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open streams cost next to nothing while nothing happens."""
    looks: list[int] = []

    def counted(organization_id: UUID, conversation_ids: Collection[UUID]) -> dict[UUID, StreamPosition]:
        looks.append(len(conversation_ids))
        return load_stream_positions(organization_id, conversation_ids)

    monkeypatch.setattr(hub_module, "load_stream_positions", counted)
    asyncio.run(heard([begin(tenant, f"guest {number}") for number in range(10)], "Here I am."))
    assert 10 in looks


def test_a_database_outage_does_not_end_a_stream(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next round finds what the failed one missed."""
    failures: list[Exception] = [OperationalError("gone"), ValueError("a bug")]

    def failing(*place: Any) -> dict[UUID, StreamPosition]:
        if failures:
            raise failures.pop()
        return load_stream_positions(*place)

    monkeypatch.setattr(hub_module, "load_stream_positions", failing)
    asyncio.run(heard([begin(tenant, "ada")], "Here I am."))
    assert failures == []


def test_polling_ends_with_the_last_stream(tenant: Tenant) -> None:
    """No polling without a stream."""
    conversation = begin(tenant, "ada")

    async def open_and_leave() -> None:
        place = StreamCursor(conversation.organization_id, conversation.pk, after=0)
        async with aclosing(EventStream(place).frames()) as stream:
            await anext(stream)
            rounds = hub()._poller
        assert rounds is not None
        async with asyncio.timeout(PATIENCE):
            await rounds
        await close_hub()

    asyncio.run(open_and_leave())
