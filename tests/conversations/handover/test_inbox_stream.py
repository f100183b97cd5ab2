"""The inbox's live stream: hints that the list has changed and that a member is typing, none stored, each said once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from django.test import AsyncClient

from conversations.live import inbox_stream
from conversations.live.hub import Hub
from conversations.live.inbox_hints import hint_changed
from conversations.models.event import EventType
from projects.models import User
from tenancy.threads import in_db
from tests.conftest import Tenant
from tests.conversations.conftest import Talk, talk
from tests.live_hub import close_hub

__all__ = ["talk"]

URL = "/api/v1/inbox/events"
PATIENCE = 20

Read = Callable[[int], Coroutine[Any, Any, list[tuple[str, Any]]]]


@asynccontextmanager
async def opened(tenant: Tenant) -> AsyncIterator[Read]:
    """An open stream that has said `ready`. The function reads the next events."""
    response = await AsyncClient().get(URL, headers=tenant.headers)
    assert response.status_code == 200, response.content
    stream = aiter(response.streaming_content)

    async def read(count: int) -> list[tuple[str, Any]]:
        events: list[tuple[str, Any]] = []
        async with asyncio.timeout(PATIENCE):
            while len(events) < count:
                events += parsed(await anext(stream))
        return events

    try:
        assert await read(1) == [("ready", {})]
        yield read
    finally:
        await response._iterator.aclose()
        await close_hub()


def parsed(piece: bytes) -> list[tuple[str, Any]]:
    frames = [dict(line.split(": ", 1) for line in frame.splitlines()) for frame in piece.decode().split("\n\n")]
    return [(frame["event"], json.loads(frame["data"])) for frame in frames if "event" in frame]


def test_a_customers_message_is_a_hint_without_its_words(tenant: Tenant, talk: Talk) -> None:
    async def run() -> list[tuple[str, Any]]:
        async with opened(tenant) as read:
            await in_db(talk.say, "Is anybody there?")
            return await read(1)

    assert asyncio.run(run()) == [("changed", {})]


def test_hints_that_come_together_are_sent_as_one(tenant: Tenant, talk: Talk, operator: User) -> None:
    typing = f"/api/v1/conversations/{talk.conversation.pk}/typing"

    async def run() -> list[tuple[str, Any]]:
        async with opened(tenant) as read:
            await in_db(talk.say, "One")
            await read(1)
            for words in ("Two", "Three", "Four"):
                await in_db(talk.say, words)
            # What comes after the gathered hints shows that they were one.
            await AsyncClient().post(typing, headers=tenant.headers)
            return await read(2)

    assert [event for event, _ in asyncio.run(run())] == ["changed", "typing"]


def test_a_typing_member_is_named_to_the_others(tenant: Tenant, talk: Talk, operator: User) -> None:
    client = AsyncClient()

    async def run() -> list[tuple[str, Any]]:
        async with opened(tenant) as read:
            await client.aforce_login(operator)
            url = f"/api/v1/conversations/{talk.conversation.pk}/typing?project={tenant.project.slug}"
            told = await client.post(url)
            assert told.status_code == 204, told.content
            return await read(1)

    named = {"conversation": str(talk.conversation.pk), "email": operator.email, "name": operator.name}
    assert asyncio.run(run()) == [("typing", named)]


def test_another_projects_hints_are_not_heard(tenant: Tenant, stranger: Tenant, talk: Talk) -> None:
    async def run() -> bool:
        async with opened(tenant) as read:
            await in_db(hint_changed, stranger.project.pk, [EventType.MESSAGE])
            await in_db(talk.say, "Mine")
            await read(1)
            try:
                async with asyncio.timeout(2 * inbox_stream.GATHER_SECONDS):
                    return bool(await read(1))
            except TimeoutError:
                return False

    assert not asyncio.run(run())


def test_steps_of_a_reply_are_no_hint(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    published: list[str] = []
    monkeypatch.setattr("conversations.live.inbox_hints.publish", lambda *words: published.append(words[0]))
    hint_changed(tenant.project.pk, [EventType.TURN, EventType.DIRECTIVES])
    assert published == []
    hint_changed(tenant.project.pk, [EventType.TURN, EventType.EFFECT])
    assert published == ["PUBLISH"]


def test_a_caller_opens_a_limited_number_of_streams(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox_stream, "MOST_STREAMS", 1)

    async def run() -> list[int]:
        async with opened(tenant):
            refused = await AsyncClient().get(URL, headers=tenant.headers)
        async with opened(tenant):
            return [refused.status_code]

    assert asyncio.run(run()) == [429]


def test_a_stream_without_redis_ends_so_that_the_page_polls(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    async def lost(self: Hub, name: str) -> bool:
        return False

    monkeypatch.setattr(Hub, "is_confirmed", lost)

    async def run() -> list[bytes]:
        response = await AsyncClient().get(URL, headers=tenant.headers)
        try:
            return [piece async for piece in response.streaming_content]
        finally:
            await close_hub()

    assert asyncio.run(run()) == [b"retry: 5000\n\n"]
