"""When a chat begins on one page of the customer's, the others are told: the one on which nothing was said yet, and the one that
shows a chat that is over (D25).
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from conversations.live.hub import Listener, Room, hub
from conversations.live.stream import PING_SECONDS, PINGED, RETRY, EventStream, Frame, Frames, StreamCursor
from conversations.models import Channel, Conversation
from conversations.portal.session import open_visit
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.services.signed_links import PortalTarget


@dataclass(frozen=True)
class Beginning:
    """The customer's chat, once there is one, and how many conversations they have had on their page."""

    chat: UUID | None
    begun: int


async def frames_until_begun(place: PortalTarget, beginning: Beginning) -> Frames:
    """Frames until the chat begins, the last of which names it. `beginning` is what was read when the page asked."""
    room = Room(place.organization_id, place.persona_id, is_awaited=True)
    async with hub().listen(room, after=beginning.begun) as listener:
        yield [RETRY]
        while (now := await in_db(beginning_of, place)).chat is None:
            listener.after = now.begun
            while await listener.next_within(random.uniform(*PING_SECONDS)) is None:  # noqa: S311  # spreads work, guards nothing
                yield [PINGED]
        yield [Frame("begun", {"chat": str(now.chat)})]


async def frames_until_another(place: PortalTarget, chat: StreamCursor) -> Frames:
    """The chat's own frames until another begins after it, the last of which names that."""
    room = Room(place.organization_id, place.persona_id, is_awaited=True)
    # Of none is known how many there were: the hub's first round has them counted, and who began meanwhile is seen.
    async with hub().listen(room, after=0) as listener, aclosing(EventStream(chat).frames()) as stream:
        told = asyncio.ensure_future(_another(place, chat.conversation_id, listener))
        try:
            async with aclosing(_while_waiting(stream, told)) as shown:
                async for frames in shown:
                    yield frames
        finally:
            told.cancel()
        yield [Frame("begun", {"chat": str(await told)})]


async def _another(place: PortalTarget, chat: UUID, listener: Listener) -> UUID:
    """The chat that takes this one's place, as soon as there is one."""
    while True:
        await listener.next()
        now = await in_db(beginning_of, place)
        listener.after = now.begun
        if now.chat is not None and now.chat != chat:
            return now.chat


async def _while_waiting(stream: Frames, told: asyncio.Future[UUID]) -> Frames:
    """The stream's frames, until what is waited for is there."""
    while True:
        coming = asyncio.ensure_future(anext(stream))
        try:
            both: set[asyncio.Future[Any]] = {coming, told}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                return
            yield coming.result()
        finally:
            if not coming.done():
                coming.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await coming


def beginning_of(place: PortalTarget) -> Beginning:
    """Raises Http404 for a customer who is no more."""
    with tenant_tx(place.organization_id):
        chat = open_visit(place).chat()
        begun = Conversation.objects.filter(persona_id=place.persona_id, channel=Channel.PORTAL).count()
        return Beginning(chat.pk if chat else None, begun)
