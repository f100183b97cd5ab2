"""The context of one attempt at a part: its chat, the connection that it goes out by, and its contents."""

from __future__ import annotations

from dataclasses import dataclass

from conversations.channels.outgoing import OPTED_OUT
from conversations.channels.outgoing_files import FILE_DELETED, find_file
from conversations.channels.provider import Button, OutgoingFile, OutgoingPart, Provider
from conversations.channels.registry import PROVIDERS
from conversations.channels.window import is_window_open
from conversations.common.payloads import StoredAttachment
from conversations.models import Chat, Receipt
from projects.common.crypto import WrongSecret
from projects.connections.integrations import Connection, open_source
from tools.models import Effect, ReceiptState

NOT_CONNECTED = "The channel isn’t connected any more."
NO_CARRIER = "No mail server is connected. Connect one under Integrations, E-mail (SMTP)."
RECONNECT_FIRST = "The provider rejects the channel’s credentials. Connect it again."
UNREADABLE = "The channel’s secret can’t be read. Connect it again."
OTHER_ACCOUNT = "The channel is connected to another account by now."
WINDOW_CLOSED = "The customer hasn’t written for 24 hours. Only a template may be sent now."
EARLIER_PART_FAILED = "The part before this one didn’t arrive."


class NothingToSend(Exception):
    """The part isn't sent, for the given reason."""


@dataclass(frozen=True)
class DeliveryContext:
    """One attempt: the part, and the connection that it goes out by."""

    effect: Effect
    chat: Chat
    provider: Provider
    connection: Connection
    part: OutgoingPart


def open_context(effect: Effect) -> DeliveryContext:
    """The context of an attempt. Raises NothingToSend."""
    chat = Chat.objects.filter(pk=effect.arguments.get("chat")).first()
    if chat is None:
        raise NothingToSend(NOT_CONNECTED)
    if chat.opted_out_at is not None and not effect.arguments.get("is_confirmation"):
        raise NothingToSend(OPTED_OUT)
    if _has_failed_part(effect):
        raise NothingToSend(EARLIER_PART_FAILED)
    provider = PROVIDERS[chat.kind]
    if not effect.arguments.get("template") and not is_window_open(chat):
        raise NothingToSend(WINDOW_CLOSED)
    return DeliveryContext(effect, chat, provider, _connection(chat, provider), _part(effect, provider))


def _connection(chat: Chat, provider: Provider) -> Connection:
    """The connection that the chat's messages go out by. Raises NothingToSend."""
    connection = _connected(chat, chat.kind, missing=NOT_CONNECTED)
    if provider.account_of(connection) != chat.account:
        raise NothingToSend(OTHER_ACCOUNT)
    if provider.carrier:
        connection = _connected(chat, provider.carrier, missing=NO_CARRIER)
    if connection.needs_reauth:
        raise NothingToSend(RECONNECT_FIRST)
    return connection


def _connected(chat: Chat, kind: str, *, missing: str) -> Connection:
    try:
        connection = open_source(chat.project_id, kind)
    except WrongSecret:
        raise NothingToSend(UNREADABLE) from None
    if connection is None:
        raise NothingToSend(missing)
    return connection


def _part(effect: Effect, provider: Provider) -> OutgoingPart:
    arguments = effect.arguments
    receipt = Receipt.objects.select_related("message", "chat").get(effect_id=effect.pk)
    return OutgoingPart(
        chat_id=arguments["to"],
        text=arguments["text"],
        key=effect.effect_key,
        buttons=tuple(Button(**one) for one in arguments.get("buttons", ())),
        choose=arguments.get("choose", ""),
        template=arguments.get("template"),
        file=_file(arguments["file"]) if "file" in arguments else None,
        thread=provider.thread_of(receipt),
    )


def _file(stored: StoredAttachment) -> OutgoingFile:
    found = find_file(stored)
    if found is None:
        raise NothingToSend(FILE_DELETED)
    return found


def _has_failed_part(effect: Effect) -> bool:
    own = Receipt.objects.filter(effect_id=effect.pk).first()
    return own is not None and (
        Receipt.objects.filter(message_id=own.message_id, part__lt=own.part, state=ReceiptState.FAILED).exists()
    )
