"""The customer's phone as the page shows it: one screen for each channel."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, QueryDict

from console.access import zone_of
from console.timestamps import Timestamp, format_timestamp
from conversations.channels.linking import OpenChannel
from conversations.channels.simulated import (
    CUSTOMERS,
    KINDS,
    MOST_FILE_BYTES,
    Bubble,
    Customer,
    Line,
    ProviderAway,
    Screen,
    address_of,
    conversation_of,
    given_file,
    line_of,
    simulated_channel,
    use_phone,
    with_states,
)
from projects.common.translation import lazy
from projects.connections.integrations import find_source
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

TITLES: Mapping[str, str] = {"twilio": lazy("SMS"), "whatsapp": "WhatsApp", "telegram": "Telegram"}
ICONS: Mapping[str, str] = {
    "twilio": "device-mobile-message",
    "whatsapp": "brand-whatsapp",
    "telegram": "message-circle",
}
TONES: Mapping[str, str] = {
    "sent": "mute",
    "delivered": "ok",
    "read": "ok",
    "failed": "bad",
    "unknown": "warn",
    "answered": "ok",
    "held": "warn",
    "keyword": "ok",
    "stored": "warn",
    "refused": "bad",
}
SIGNS: Mapping[str, str] = {
    "failed": "alert-circle",
    "refused": "alert-circle",
    "accepted": "clock",
    "held": "clock",
    "unknown": "help-circle",
}


class PhoneState(StrEnum):
    """OPEN: simulated. REAL: a real account is connected, and left alone. AWAY: the offline provider doesn't answer."""

    OPEN = "open"
    REAL = "real"
    NOT_CONNECTED = "not_connected"
    AWAY = "away"


@dataclass(frozen=True)
class ShownBubble:
    """A bubble with its time and the sign of its state."""

    bubble: Bubble
    at: Timestamp
    tone: str
    sign: str


@dataclass(frozen=True)
class Phone:
    """One channel of the phone: `address` is what the customer writes to, and `own_address` what the business sees."""

    kind: str
    state: PhoneState
    bubbles: tuple[ShownBubble, ...] = ()
    is_reachable: bool = True
    address: str = ""
    own_address: str = ""
    conversation: UUID | None = None

    @property
    def title(self) -> str:
        return TITLES[self.kind]

    @property
    def icon(self) -> str:
        return ICONS[self.kind]


def customer_of(data: QueryDict) -> tuple[int, Customer]:
    """The chosen customer, the first one by default. Raises Http404."""
    number = data.get("customer", "1")
    if number not in map(str, range(1, len(CUSTOMERS) + 1)):
        raise Http404
    return int(number), CUSTOMERS[int(number) - 1]


async def open_phones(entry: Entry, customer: Customer, *, seen: Collection[str]) -> list[Phone]:
    """Every channel's screen. The customer looks at the chats of the kinds in `seen`."""
    found, zone = await in_db(_channels, entry)
    looks = (_look(kind, found[kind], customer, is_seen=kind in seen, zone=zone) for kind in KINDS)
    return list(await asyncio.gather(*looks))


def open_line(entry: Entry, kind: str, customer: Customer) -> tuple[OpenChannel, Line] | None:
    """The customer's phone at a simulated channel; None for any other connection."""
    with tenant_tx(entry.project.organization.pk):
        channel = simulated_channel(entry.project, kind)
        return (channel, line_of(channel, customer)) if channel else None


def _channels(entry: Entry) -> tuple[dict[str, OpenChannel | PhoneState], str]:
    """The project's channels, and its time zone."""
    with tenant_tx(entry.project.organization.pk):
        found = {kind: simulated_channel(entry.project, kind) or _absent(entry, kind) for kind in KINDS}
        return found, zone_of(entry)


def _absent(entry: Entry, kind: str) -> PhoneState:
    return PhoneState.REAL if find_source(entry.project.pk, kind) else PhoneState.NOT_CONNECTED


async def _look(kind: str, channel: OpenChannel | PhoneState, customer: Customer, *, is_seen: bool, zone: str) -> Phone:
    if isinstance(channel, PhoneState):
        return Phone(kind, channel)
    line = line_of(channel, customer)
    try:
        screen = await use_phone(line, "look", open=is_seen)
    except ProviderAway:
        return Phone(kind, PhoneState.AWAY)
    return await in_db(_phone, channel, line, screen, zone)


def _phone(channel: OpenChannel, line: Line, screen: Screen, zone: str) -> Phone:
    with tenant_tx(channel.organization_id):
        shown = with_states(screen, channel)
        conversation, address = conversation_of(channel, line), address_of(channel)
    bubbles = tuple(_shown(bubble, zone=zone) for bubble in shown.bubbles)
    # A bot sees no number of its customers.
    own_address = "" if channel.kind == "telegram" else line.customer
    return Phone(channel.kind, PhoneState.OPEN, bubbles, shown.is_reachable, address, own_address, conversation)


def _shown(bubble: Bubble, *, zone: str) -> ShownBubble:
    at = format_timestamp(datetime.fromtimestamp(bubble.at, UTC), zone=zone)
    return ShownBubble(bubble, at, TONES.get(bubble.state, "mute"), SIGNS.get(bubble.state, "check"))


def file_of(request: HttpRequest) -> Mapping[str, str] | None:
    """The chosen file, as the offline provider takes it. Raises ValueError for one that is too large."""
    chosen = request.FILES.get("file")
    if chosen is None:
        return None
    if (chosen.size or 0) > MOST_FILE_BYTES:
        raise ValueError
    return given_file(chosen.name or "file", chosen.content_type or "application/octet-stream", chosen.read())


def words_of(data: Mapping[str, Any]) -> str:
    """The typed words, as they can be sent; empty if there are none."""
    return str(data.get("text", "")).replace("\x00", "").strip()[:4_000]
