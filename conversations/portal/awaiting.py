"""The stream of a page on which nothing was said yet: it says when the chat begins, on whichever page of the customer's (D25)."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from uuid import UUID

from conversations.live.hub import Room, hub
from conversations.live.stream import PING_SECONDS, RETRY_MS, frame
from conversations.models import Channel, Conversation
from conversations.portal.visit import open_visit
from projects.tenancy import tenant_tx
from projects.threads import in_db
from tools.portal_links import PortalPlace


@dataclass(frozen=True)
class Beginning:
    """The customer's chat, once there is one, and how many conversations they have had on their page."""

    chat: UUID | None
    begun: int


async def frames_until_begun(place: PortalPlace, beginning: Beginning) -> AsyncGenerator[list[bytes], None]:
    """Frames until the chat begins, the last of which names it. `beginning` is what was read when the page asked."""
    room = Room(place.organization_id, place.persona_id, is_awaited=True)
    async with hub().listen(room, after=beginning.begun) as listener:
        yield [b"retry: %d\n\n" % RETRY_MS]
        while (now := await in_db(beginning_of, place)).chat is None:
            listener.after = now.begun
            while await listener.next_within(random.uniform(*PING_SECONDS)) is None:  # noqa: S311  # spreads work, guards nothing
                yield [b": ping\n\n"]
        yield [frame("begun", {"chat": str(now.chat)})]


def beginning_of(place: PortalPlace) -> Beginning:
    """Raises Http404 for a customer who is no more."""
    with tenant_tx(place.organization_id):
        chat = open_visit(place).chat()
        begun = Conversation.objects.filter(persona_id=place.persona_id, channel=Channel.PORTAL).count()
        return Beginning(chat.pk if chat else None, begun)
