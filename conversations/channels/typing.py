"""Typing indicators: the customer sees in the messenger that the agent is writing. Best effort, outside of the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from django.db import InterfaceError, OperationalError

from conversations.channels.provider import Provider
from conversations.channels.registry import PROVIDERS
from conversations.models import Chat, Conversation, Delivery
from jobs.fence import reading
from jobs.lanes import ClaimedJob
from projects.common.crypto import WrongSecret
from projects.connections.integrations import Connection, open_source
from tenancy.threads import in_db


@dataclass(frozen=True)
class TypingPlace:
    """The chat, and the provider's id of the customer's newest message in it."""

    provider: Provider
    connection: Connection
    chat_id: str
    message: str


@asynccontextmanager
async def typing_shown(conversation: Conversation, job: ClaimedJob) -> AsyncIterator[None]:
    """Show that the agent is writing until the block ends, which waits for nothing. Does nothing without a chat."""
    chat = conversation.metadata.get("chat")
    provider = PROVIDERS.get(str(chat.get("kind"))) if isinstance(chat, Mapping) else None
    if provider is None or provider.typing_seconds is None:
        yield
        return
    showing = asyncio.create_task(_show(provider, provider.typing_seconds, job))
    try:
        yield
    finally:
        showing.cancel()


async def _show(provider: Provider, seconds: float, job: ClaimedJob) -> None:
    with suppress(OperationalError, InterfaceError):
        place = await in_db(_find_place, provider, job)
        while place is not None:
            await provider.show_typing(place.connection, place.chat_id, place.message)
            await asyncio.sleep(seconds)


def _find_place(provider: Provider, job: ClaimedJob) -> TypingPlace | None:
    with reading(job):
        chat = Chat.objects.filter(conversation_id=job.subject_id, kind=provider.kind, opted_out_at=None).first()
        heard = Delivery.objects.filter(conversation_id=job.subject_id, message__isnull=False).exclude(message_ref="")
        newest = heard.order_by("-received_at").values_list("external_id", flat=True).first()
        if chat is None or newest is None:
            return None
        try:
            connection = open_source(chat.project_id, provider.kind)
        except WrongSecret:
            return None
        if connection is None or connection.needs_reauth or provider.account_of(connection) != chat.account:
            return None
        return TypingPlace(provider, connection, chat.external_id, newest)
