"""The simulated phone: a customer's SMS, WhatsApp and Telegram at the offline providers of this installation.

What is typed there reaches the same webhooks as a real message, signed by the provider. A connection to a real provider is
never touched.
"""

from __future__ import annotations

import json
import secrets
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, cast
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext

from conversations.channels.linking import OpenChannel, connect_channel, open_channel
from conversations.channels.registry import PROVIDERS
from conversations.channels.telegram import webhook_secret
from conversations.channels.whatsapp import read_secrets
from conversations.models import ChannelLink, Chat, Delivery, DeliveryResult, Message, MessageRole, Receipt
from outbound.errors import OutboundError
from outbound.guard import Guard, Response
from projects.connections.integrations import find_source
from projects.connections.offline_messengers import offline_server
from projects.connections.settings.twilio import TwilioSettings
from projects.models import Project, User
from tools.models import Effect

KINDS = ("twilio", "whatsapp", "telegram")
OUR_NUMBER = "+14155550100"
DOOR_SECONDS, MOST_BYTES = 30.0, 4 * 1024 * 1024
MOST_FILE_BYTES = 16 * 1024 * 1024
ANSWERING = (MessageRole.AGENT, MessageRole.OPERATOR)


@dataclass(frozen=True)
class Customer:
    """A made-up customer, who has the same number on every channel."""

    name: str
    number: str


CUSTOMERS: Sequence[Customer] = tuple(
    Customer(name, f"+3934755501{10 + index}")
    for index, name in enumerate(("Anna Bianchi", "Jonas Weber", "Inés Ortega", "Claire Moreau", "Sam Taylor"))
)


@dataclass(frozen=True)
class Line:
    """A customer's phone at an account of the business, as the offline provider knows it. `secret` signs the webhooks."""

    kind: str
    account: str
    webhook: str
    secret: str = field(repr=False)
    customer: str
    number: str
    name: str


@dataclass(frozen=True)
class PhoneFile:
    """A file of a message, which the offline provider gives out by its id."""

    id: str
    name: str
    content_type: str

    @property
    def shown_as(self) -> str:
        """`image`, `audio` or `video`; "" for a file that is only named."""
        kind = self.content_type.partition("/")[0]
        return kind if kind in ("image", "audio", "video") else ""


@dataclass(frozen=True)
class Bubble:
    """A message as the customer sees it. `result` is what the business made of the customer's own."""

    id: str
    text: str
    is_mine: bool
    at: float
    buttons: Sequence[Mapping[str, str]] = ()
    file: PhoneFile | None = None
    state: str = ""
    label: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Screen:
    """A customer's chat. `status` is that of the webhook for words that were just written; 0 if nobody answered it."""

    bubbles: Sequence[Bubble] = ()
    is_reachable: bool = True
    status: int = 200


class ProviderAway(Exception):
    """The offline provider doesn't answer."""


def is_available() -> bool:
    """True if this installation runs the offline providers."""
    return bool(settings.OFFLINE_MESSENGERS_URL)


def is_simulated(channel: OpenChannel) -> bool:
    """True for a connection to the offline provider."""
    return bool(ours := offline_server(channel.kind)) and channel.connection.settings.server == ours.lower()


def connect_simulated(project: Project, *, by: User | None) -> list[OpenChannel]:
    """Connect each kind without a connection to its offline provider. `link_channel` follows after the commit."""
    free = [kind for kind in KINDS if find_source(project.pk, kind) is None]
    return [connect_channel(project, kind, _settings(project, kind), _secret(project, kind), by=by) for kind in free]


def simulated_channel(project: Project, kind: str) -> OpenChannel | None:
    """The project's connection to the offline provider of a kind, or None. Runs in the tenant's transaction."""
    channel = open_channel(project, kind)
    return channel if channel is not None and is_simulated(channel) else None


def line_of(channel: OpenChannel, customer: Customer) -> Line:
    """The customer's phone at the connection's account."""
    connection = channel.connection
    secret = {
        "telegram": lambda: webhook_secret(connection),
        "twilio": lambda: connection.secret,
        "whatsapp": lambda: read_secrets(connection)["app_secret"],
    }[channel.kind]()
    number = cast(TwilioSettings, connection.settings).texts_from if channel.kind == "twilio" else ""
    account = PROVIDERS[channel.kind].account_of(connection)
    return Line(channel.kind, account, channel.webhook, secret, customer.number, number, customer.name)


async def use_phone(line: Line, action: str, **details: Any) -> Screen:
    """Let the customer `write` a text or send a file, `press` a button, `look` or change their `reach`. No transaction may
    be open.

    Raises ProviderAway.
    """
    body = json.dumps({"line": asdict(line), **details}).encode()
    try:
        answer = await _ask("POST", action, body, most=MOST_BYTES)
        found = json.loads(answer.body)
        bubbles = [_bubble(one) for one in found["messages"]]
        return Screen(bubbles, found["reachable"], found["status"])
    except (OutboundError, ValueError, KeyError) as error:
        raise ProviderAway(ProviderAway.__doc__) from error


def given_file(name: str, content_type: str, content: bytes) -> Mapping[str, str]:
    """A customer's file, as the provider takes it."""
    return {"name": name, "type": content_type, "content": b64encode(content).decode()}


async def read_file(id: str) -> bytes | None:
    """The content of a file of the chat; None if the provider has forgotten it. Raises ProviderAway."""
    try:
        answer = await _ask("GET", f"files/{id}", None, most=MOST_FILE_BYTES)
    except OutboundError as error:
        raise ProviderAway(ProviderAway.__doc__) from error
    return answer.body if answer.status == 200 else None


async def _ask(method: str, door: str, body: bytes | None, *, most: int) -> Response:
    base = settings.OFFLINE_MESSENGERS_URL
    # The operator's own address, trusted like that of the operator's model.
    guard = Guard(allow=[urlsplit(base).netloc])
    headers = {"Content-Type": "application/json"} if body else {}
    url = f"{base}/doors/{door}"
    return await guard.request(method, url, headers=headers, body=body, deadline_s=DOOR_SECONDS, max_bytes=most)


def address_of(channel: OpenChannel) -> str:
    """The business's number, or its bot, which the customer writes to."""
    if channel.kind == "telegram":
        link = ChannelLink.objects.filter(project_id=channel.project_id, kind=channel.kind).first()
        return link.name if link else ""
    return cast(TwilioSettings, channel.connection.settings).texts_from if channel.kind == "twilio" else OUR_NUMBER


def with_states(screen: Screen, channel: OpenChannel) -> Screen:
    """The chat with the state of each message as the business knows it: handled or not, delivered, read."""
    ids = [bubble.id for bubble in screen.bubbles]
    account = PROVIDERS[channel.kind].account_of(channel.connection)
    own = {"project_id": channel.project_id, "kind": channel.kind, "account": account}
    arrived = {one.external_id: one for one in Delivery.objects.filter(**own, external_id__in=ids)}
    receipts = Receipt.objects.filter(external_id__in=ids, **{f"chat__{name}": value for name, value in own.items()})
    sent = {one.external_id: (one.state, one.get_state_display(), one.reason) for one in receipts}
    # A tool's message is an effect, and no message of the conversation.
    effects = Effect.objects.filter(project_id=channel.project_id, receipt_ref__in=ids)
    told = {one.receipt_ref: (one.receipt, one.get_receipt_display(), one.receipt_reason) for one in effects}
    known = {**told, **sent}
    unanswered = _unanswered(arrived.values())
    bubbles = [
        replace(bubble, state="held", label=gettext("Waiting for your team"))
        if bubble.id in unanswered
        else _with_state(bubble, arrived.get(bubble.id), known.get(bubble.id))
        for bubble in screen.bubbles
    ]
    return Screen(bubbles, screen.is_reachable, screen.status)


def _unanswered(arrived: Iterable[Delivery]) -> set[str]:
    """The messages to a conversation that a person has taken over, until somebody answers."""
    left = [one for one in arrived if one.result == DeliveryResult.ANSWERED and one.message_id]
    theirs = Message.objects.filter(conversation=OuterRef("conversation"), seq__gt=OuterRef("seq"), role__in=ANSWERING)
    held = Message.objects.filter(pk__in=[one.message_id for one in left], conversation__operator__isnull=False)
    waiting = set(held.filter(~Exists(theirs)).values_list("pk", flat=True))
    return {one.external_id for one in left if one.message_id in waiting}


def conversation_of(channel: OpenChannel, line: Line) -> UUID | None:
    """The conversation of the customer's chat; None before the first message."""
    digits = line.customer.removeprefix("+")
    chats = Chat.objects.filter(
        project_id=channel.project_id,
        kind=channel.kind,
        account=line.account,
        external_id__in=(digits, line.customer),
    )
    return chats.values_list("conversation_id", flat=True).first()


def _bubble(one: Mapping[str, Any]) -> Bubble:
    file = one.get("file")
    found = PhoneFile(file["id"], file["name"], file["type"]) if file else None
    return Bubble(one["id"], one["text"], one["mine"], one["at"], tuple(one["buttons"]), found)


def _with_state(bubble: Bubble, arrived: Delivery | None, sent: tuple[str, str, str] | None) -> Bubble:
    if bubble.is_mine:
        state, label, reason = (
            (arrived.result, arrived.get_result_display(), arrived.detail) if arrived else ("", "", "")
        )
        return replace(bubble, state=state, label=label, reason="" if state == DeliveryResult.KEYWORD else reason)
    state, label, reason = sent or ("", "", "")
    return replace(bubble, state=state, label=label, reason=reason)


def _settings(project: Project, kind: str) -> dict[str, str]:
    account: dict[str, dict[str, str]] = {
        "twilio": {"account_sid": f"AC{project.pk.hex}", "number": OUR_NUMBER},
        "whatsapp": {"phone_number_id": str(project.pk.int)[:15], "business_account_id": str(project.pk.int)[:12]},
        "telegram": {},
    }
    return {**account[kind], "base_url": offline_server(kind)}


def _secret(project: Project, kind: str) -> str:
    """New credentials, which the offline provider accepts as they come."""
    if kind == "telegram":
        return f"{project.pk.int % 10**10}:{secrets.token_urlsafe(24)}"
    if kind == "twilio":
        return secrets.token_hex(16)
    return json.dumps({"access_token": f"EAA{secrets.token_hex(16)}", "app_secret": secrets.token_hex(16)})
