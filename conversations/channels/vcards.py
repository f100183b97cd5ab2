"""Contacts that customers send as a file (RFC 6350), which is how Twilio passes them on."""

from __future__ import annotations

import re

from conversations.channels.items import contact_text

TYPES = ("text/vcard", "text/x-vcard")
MOST = 10
_NAME = re.compile(r"^FN[^:\r\n]*:(.+)$", re.MULTILINE | re.IGNORECASE)
_PHONE = re.compile(r"^(?:item\d+\.)?TEL[^:\r\n]*:(?:tel:)?(.+)$", re.MULTILINE | re.IGNORECASE)


def is_vcard(declared_type: str) -> bool:
    return declared_type.partition(";")[0].strip().lower() in TYPES


def read_vcards(content: bytes) -> str:
    """The contacts of a file as the agent reads them, a line each; empty if there are none."""
    cards = content.decode("utf-8", "replace").split("BEGIN:VCARD")[1 : MOST + 1]
    found = ((_NAME.findall(card)[:1], _PHONE.findall(card)) for card in cards)
    return "\n".join(contact_text("".join(names), phones) for names, phones in found if names or phones)
