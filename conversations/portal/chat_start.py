"""Streams that announce the start of a new chat to the customer's other open portal pages.

Two kinds of page wait for one: a page without a chat, and a page that shows a closed chat.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import Http404

from conversations.live.hub import Listener, Room, hub
from conversations.live.stream import PING_SECONDS, PINGED, RETRY, EventStream, Frame, Frames, StreamCursor
from conversations.models import Channel, Conversation
from conversations.portal.session import open_visit
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.services.signed_links import PortalTarget


@dataclass(frozen=True)
class ChatState:
    """The customer's current chat, if any, and the number of conversations they have had in the portal."""

    chat: UUID | None
    chat_count: int


async def frames_until_begun(place: PortalTarget, beginning: ChatState) -> Frames:
    """Frames until the chat begins; the last one names it. `beginning` is the state when the page asked."""
    room = Room(place.organization_id, place.persona_id, is_awaited=True)
    async with hub().listen(room, after=beginning.chat_count) as listener:
        yield [RETRY]
        try:
            while (now := await in_db(load_chat_state, place)).chat is None:
                listener.after = now.chat_count
                while await listener.next_within(random.uniform(*PING_SECONDS)) is None:  # noqa: S311  # spreads work, guards nothing
                    yield [PINGED]
        except Http404:
            # Erased meanwhile.
            return
        yield [Frame("begun", {"chat": str(now.chat)})]


async def frames_until_replaced(place: PortalTarget, chat: StreamCursor) -> Frames:
    """The chat's own frames until a newer chat begins; the last one names that. They end with a deleted chat."""
    room = Room(place.organization_id, place.persona_id, is_awaited=True)
    # The count is unknown here: with 0 the hub's first round reports it, so a chat begun meanwhile is seen.
    async with hub().listen(room, after=0) as listener, aclosing(EventStream(chat).frames()) as stream:
        replacement = asyncio.ensure_future(_replacement(place, chat.conversation_id, listener))
        try:
            async with aclosing(_frames_until(stream, replacement)) as shown:
                async for frames in shown:
                    yield frames
            is_replaced = replacement.done()
        finally:
            replacement.cancel()
        if is_replaced:
            yield [Frame("begun", {"chat": str(await replacement)})]


async def _replacement(place: PortalTarget, chat: UUID, listener: Listener) -> UUID:
    """Wait for the chat that replaces this one."""
    while True:
        await listener.next()
        now = await in_db(load_chat_state, place)
        listener.after = now.chat_count
        if now.chat is not None and now.chat != chat:
            return now.chat


async def _frames_until(stream: Frames, replacement: asyncio.Future[UUID]) -> Frames:
    """The stream's frames, until it ends or `replacement` is done."""
    while True:
        coming = asyncio.ensure_future(anext(stream))
        try:
            both: set[asyncio.Future[Any]] = {coming, replacement}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                return
            try:
                frames = coming.result()
            except StopAsyncIteration:
                return
            yield frames
        finally:
            if not coming.done():
                coming.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await coming


def load_chat_state(place: PortalTarget) -> ChatState:
    """The customer's current state. Raises Http404 for a deleted customer."""
    with tenant_tx(place.organization_id):
        chat = open_visit(place).chat()
        chat_count = Conversation.objects.filter(persona_id=place.persona_id, channel=Channel.PORTAL).count()
        return ChatState(chat.pk if chat else None, chat_count)
