"""The protocol of a messenger's provider. One module implements it: `telegram.py` is an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from conversations.channels.items import Item, RemoteFile
from conversations.common.payloads import StoredAttachment
from conversations.files.contents import Content
from conversations.models import Channel, ChannelLink, Receipt
from projects.connections.integrations import Connection
from tools.engine.execution.outcome import Outcome


class MalformedWebhook(ValueError):
    """The webhook is genuine, but it can't be read."""


@dataclass(frozen=True)
class FormFile:
    """A file of a form. `content` is None if it was too large to be kept."""

    key: str
    name: str
    declared_type: str
    size: int
    content: bytes | None = field(repr=False)


@dataclass(frozen=True)
class WebhookRequest:
    """A webhook as it arrived. `url` is the address that was called, and `public_url` the same at our
    public address: some signatures cover it.

    `form` has the fields of a form, and `files` its files; the body is empty then. `is_cut` if the end is missing,
    because it was too long.
    """

    body: bytes
    headers: Mapping[str, str]
    url: str
    public_url: str = ""
    form: Sequence[tuple[str, str]] = ()
    files: Sequence[FormFile] = ()
    is_cut: bool = False


@dataclass(frozen=True)
class Button:
    """A choice that the customer presses. `id`, at most 64 bytes, comes back with the press."""

    label: str
    id: str


@dataclass(frozen=True)
class OutgoingFile:
    """A file of a message. `url` opens it for a provider that fetches it, for a few hours. The `content` is read from its
    `source` before the part is sent.
    """

    name: str
    content_type: str
    source: Content
    url: str
    content: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class OutgoingPart:
    """One message of the provider's, at most `longest_part` characters. `choose` is the word that opens the list of the
    buttons, where a provider shows only a few below a message. `template` is sent in place of the text, in the
    provider's form. A part with a `file` has no text. `thread` is what the provider's `thread_of` found.
    """

    chat_id: str
    text: str
    key: str
    buttons: Sequence[Button] = ()
    template: Mapping[str, Any] | None = None
    choose: str = ""
    file: OutgoingFile | None = None
    thread: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LinkResult:
    """The provider's word about our webhook. `problem` is empty if it is set; `name` is the account's own name.

    `is_refused` is true if the provider rejects the credentials.
    """

    name: str = ""
    problem: str = ""
    is_refused: bool = False
    pending: int = 0


class Provider(Protocol):
    """A provider of one kind of channel. Only `send`, `fetch`, `link`, `unlink` and `inspect` use the network.

    Messages go out by the connection of the kind `carrier`, or by the channel's own.
    """

    kind: str
    carrier: str = ""
    # True if customers are told who joined and left, in a message each.
    sends_notices: bool = True
    channel: Channel
    longest_part: int
    # The longest part with buttons; 0 for a provider without buttons.
    longest_with_buttons: int
    # The time after a customer's message within which they may be written to; None without a limit.
    window: timedelta | None
    # How often the customer is told that an answer is being written; None if the provider can't.
    typing_seconds: float | None
    # True if one message carries its text and files. Otherwise each file is a part of its own.
    encloses_files: bool = False
    # The body of a 200, with its content type.
    receipt: tuple[bytes, str]

    def account_of(self, connection: Connection) -> str:
        """The provider's id of the business's own side, the same for every connection of the same account."""
        ...

    def read_secret(self, document: Any) -> str:
        """The secret of a request, as the connection stores it. Raises ValueError with the form that is right."""
        ...

    def webhook_of(self, connection: Connection) -> str:
        """The address that the provider posts to."""
        ...

    def receipts_within(self, connection: Connection) -> timedelta | None:
        """The time after which a receipt that hasn't come is unknown; None if the provider sends no receipts."""
        return None

    def is_genuine(self, connection: Connection, request: WebhookRequest) -> bool:
        """True if the connection's secret signed the raw bytes. Compares in constant time."""
        ...

    def parse(self, connection: Connection, request: WebhookRequest) -> Sequence[Item]:
        """The items of a webhook, oldest first. One that can't be read is an IgnoredItem. Raises MalformedWebhook."""
        ...

    def nonce_of(self, request: WebhookRequest) -> str:
        """The token that the provider signs only one item with; empty if the signature covers the item itself."""
        return ""

    def parse_stored(self, body: Mapping[str, Any]) -> Item:
        """The item of a stored delivery, which was parsed before."""
        ...

    async def fetch(self, connection: Connection, file: RemoteFile, *, max_bytes: int) -> bytes:
        """Fetch a file that a customer sent. Raises NotFetched, and FetchLater if another try may succeed."""
        ...

    def window_for(self, to: str) -> timedelta | None:
        """The `window` of a chat."""
        return self.window

    def carries(self, file: StoredAttachment, *, to: str) -> bool:
        """True if a chat takes this file as one. Any other is sent as a link."""
        ...

    def carried(self, files: Sequence[StoredAttachment], *, to: str) -> list[StoredAttachment]:
        """The files of a message that a chat takes as files."""
        return [one for one in files if self.carries(one, to=to)]

    def thread_of(self, receipt: Receipt) -> Mapping[str, Any]:
        """A part's contents besides its text. Runs in the transaction that begins an attempt at it."""
        return {}

    async def send(self, connection: Connection, part: OutgoingPart) -> Outcome:
        """Send one part once. A success has the provider's id as `message_ref` in its result."""
        ...

    async def show_typing(self, connection: Connection, chat_id: str, message: str) -> None:
        """Show the customer that an answer to their message is being written. Errors are ignored."""
        ...

    async def acknowledge(self, connection: Connection, press: str) -> None:
        """Tell the provider that a press was heard, where it waits for that. Errors are ignored."""
        ...

    def begin(self, connection: Connection, link: ChannelLink) -> None:
        """Begin what the channel does by itself, in the transaction that connects it."""
        return

    async def link(self, connection: Connection, *, webhook: str) -> LinkResult:
        """Tell the provider our webhook, where it has an API for that."""
        ...

    async def unlink(self, connection: Connection) -> None:
        """Withdraw our webhook. Errors are ignored."""
        ...

    async def inspect(self, connection: Connection, *, webhook: str) -> LinkResult:
        """Ask the provider about our webhook."""
        ...

    async def inspect_carrier(self, carrier: Connection) -> str:
        """Why the connection that messages go out by doesn't work, or ""."""
        return ""
