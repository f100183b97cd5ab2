"""The items of a provider's webhook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from conversations.models import Channel
from tools.models import ReceiptState

LONGEST_TEXT = 8_000


@dataclass(frozen=True)
class Sender:
    """A customer as the provider knows them. `phone`, in E.164, and `email` are set only if the provider vouches for
    them.
    """

    external_id: str
    name: str = ""
    language: str = ""
    phone: str = ""
    email: str = ""

    @property
    def contact(self) -> str:
        return self.phone or self.email.lower()


@dataclass(frozen=True)
class RemoteFile:
    """A file that is fetched after the webhook was answered. `ref` is the provider's id of it; empty for one
    whose `content` came with the message.

    `declared_type` is the type that the sender states. `label` is the name of a voice message, audio or a video in the
    message, with its length instead of a file name; `seconds` is the length that the provider states. `missing` says why
    there is nothing to fetch, and ends a sentence.
    """

    ref: str
    name: str
    declared_type: str = ""
    label: str = ""
    seconds: int | None = None
    missing: str = ""
    content: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class IncomingMessage:
    """A customer's message. `external_id` identifies the delivery, `message_ref` the message.

    A message that `edits` corrects an earlier one with the same `message_ref`, and may come before it. `channel`
    is the conversation's, if it isn't the provider's own. `choice` is the id of a pressed button, and `press` what the
    provider waits to hear of the press by. `thread` has the ids of messages of ours that it may answer, the newest first.
    `unanswered` says why the agent doesn't answer it.
    """

    external_id: str
    message_ref: str
    chat_id: str
    sender: Sender
    text: str
    sent_at: datetime | None
    files: Sequence[RemoteFile] = ()
    edits: bool = False
    channel: Channel | None = None
    choice: str = ""
    press: str = ""
    thread: Sequence[str] = ()
    unanswered: str = ""
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class ReceiptUpdate:
    """The provider's word on how far a message of ours came. `message_ref` is the provider's id of that message.

    `key` is that of the effect, if the provider repeats it.
    """

    external_id: str
    message_ref: str
    state: ReceiptState
    reason: str = ""
    at: datetime | None = None
    key: str = ""


@dataclass(frozen=True)
class ChatClosed:
    """The customer blocked the business, or came back: `is_open`."""

    external_id: str
    chat_id: str
    is_open: bool


@dataclass(frozen=True)
class IgnoredItem:
    """An item that no conversation is made of, with the reason."""

    external_id: str
    reason: str
    is_malformed: bool = False


Item = IncomingMessage | ReceiptUpdate | ChatClosed | IgnoredItem


def place_text(latitude: Any, longitude: Any, *names: Any) -> str:
    """A place as the agent reads it: its name and address, and its coordinates. Raises ValueError."""
    point = f"{float(latitude):.5f}, {float(longitude):.5f}"
    name = ", ".join(filter(None, map(clean_text, names)))
    return f"[Location: {name} ({point})]" if name else f"[Location: {point}]"


def contact_text(name: Any, phones: Iterable[Any]) -> str:
    """A contact as the agent reads it: the name and the numbers."""
    return f"[Contact: {', '.join(filter(None, map(clean_text, (name, *phones))))}]"


def clean_text(text: object) -> str:
    """The text as it can be stored, cut to the longest message; empty if it is none."""
    if not isinstance(text, str):
        return ""
    return str(storable(text)).strip()[:LONGEST_TEXT]


def storable(value: Any) -> Any:
    """A JSON value without the characters that PostgreSQL can't store, in its keys and texts."""
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {storable(key): storable(one) for key, one in value.items()}
    return [storable(one) for one in value] if isinstance(value, list) else value
