"""The items of Meta's webhooks for WhatsApp: messages, and statuses of ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from conversations.channels.items import (
    IgnoredItem,
    IncomingMessage,
    Item,
    ReceiptUpdate,
    RemoteFile,
    Sender,
    clean_text,
    contact_text,
    place_text,
    storable,
)
from conversations.channels.provider import MalformedWebhook
from conversations.channels.whatsapp_api import meaning_of
from conversations.common.file_lines import AUDIO, VIDEO, VOICE
from tools.models import ReceiptState

MOST_ITEMS = 1_000
STATES: Mapping[str, ReceiptState] = {
    "sent": ReceiptState.SENT,
    "delivered": ReceiptState.DELIVERED,
    "read": ReceiptState.READ,
    "failed": ReceiptState.FAILED,
}
Parser = Callable[[str, Mapping[str, Any], Mapping[Any, Any]], Item]
FILES = ("image", "document", "audio", "video", "sticker")
LABELS: Mapping[str, str] = {"audio": AUDIO, "video": VIDEO}


def parse_webhook(body: bytes, *, number_id: str) -> Sequence[Item]:
    """The items of a webhook, oldest first. Raises MalformedWebhook."""
    try:
        document = storable(json.loads(body))
    except (ValueError, RecursionError):
        raise MalformedWebhook("The webhook is not JSON.") from None
    if not isinstance(document, dict) or document.get("object") != "whatsapp_business_account":
        raise MalformedWebhook("The webhook is of no WhatsApp business account.")
    items = [item for change in _changes(document) for item in _items(change, number_id)]
    # Oldest first: a batch may have any order.
    return sorted(items[:MOST_ITEMS], key=_moment_of)


def parse_message(body: Mapping[str, Any]) -> Item:
    """The item of a stored message."""
    return _parse(_message, str(body.get("id")), body, {})


def _changes(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The changes of all entries that can be read."""
    for entry in _list(document.get("entry")):
        for change in _list(entry.get("changes")) if isinstance(entry, dict) else []:
            if isinstance(change, dict) and isinstance(change.get("value"), dict):
                yield change["value"]


def _items(value: Mapping[str, Any], number_id: str) -> Iterator[Item]:
    """The items of a change, each parsed by itself, so that a malformed one loses no other."""
    metadata = value.get("metadata")
    is_ours = isinstance(metadata, dict) and metadata.get("phone_number_id") == number_id
    names = {
        one.get("wa_id"): one.get("profile", {}).get("name") for one in _list(value.get("contacts")) if _is_contact(one)
    }
    for parse, name in ((_message, "messages"), (_status, "statuses")):
        for raw in _list(value.get(name)):
            id = _id_of(raw, name)
            if not is_ours:
                yield IgnoredItem(id, "The message belongs to another number of the account.")
                continue
            yield _parse(parse, id, raw, names)


def _parse(parse: Parser, id: str, raw: Mapping[str, Any], names: Mapping[Any, Any]) -> Item:
    try:
        return parse(id, raw, names)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError):
        return IgnoredItem(id, "The item is malformed.", is_malformed=True)


def _id_of(raw: Any, name: str) -> str:
    """The provider's id, or a digest of an item without one."""
    id = raw.get("id") if isinstance(raw, dict) else None
    if not isinstance(id, str) or not id:
        return sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()
    return f"{id}:{raw.get('status')}"[:200] if name == "statuses" else id[:200]


def _message(id: str, raw: Mapping[str, Any], names: Mapping[Any, Any]) -> Item:
    kind, sender = raw["type"], str(raw["from"])
    if kind == "reaction":
        return IgnoredItem(id, f"The customer reacted with {clean_text(raw['reaction'].get('emoji'))}.")
    text, files = _content(kind, raw)
    if not text and not files:
        return IgnoredItem(id, f"Messages of the type {clean_text(kind)[:40]} aren't understood.")
    phone = f"+{sender}" if sender.isdecimal() else ""
    choice = _choice(raw) if kind == "interactive" else ""
    asked = raw.get("context", {}).get("id") if choice else ""
    return IncomingMessage(
        external_id=id,
        # A choice of a message is made once.
        message_ref=f"button {asked} {choice}"[:200] if asked else id,
        chat_id=sender,
        sender=Sender(external_id=sender, name=clean_text(names.get(sender))[:200], phone=phone),
        text=text,
        sent_at=datetime.fromtimestamp(int(raw["timestamp"]), UTC),
        files=files,
        body=raw,
        choice=choice,
    )


def _choice(raw: Mapping[str, Any]) -> str:
    content = raw["interactive"]
    return clean_text(content[content["type"]].get("id"))


def _content(kind: str, raw: Mapping[str, Any]) -> tuple[str, list[RemoteFile]]:
    content = raw.get(kind) if isinstance(raw.get(kind), dict) else {}
    assert isinstance(content, dict)
    if kind == "text":
        return clean_text(content.get("body")), []
    if kind == "button":
        return clean_text(content.get("text")), []
    if kind == "interactive":
        chosen = content.get(str(content.get("type")), {})
        # A long label stands whole below its title.
        return clean_text(chosen.get("description") or chosen.get("title")), []
    if kind == "location":
        names = content.get("name"), content.get("address")
        return place_text(content["latitude"], content["longitude"], *names), []
    if kind == "contacts":
        return "\n".join(map(_contact, _list(raw.get("contacts")))), []
    if kind in FILES:
        return _file(kind, content)
    return f"[The customer sent a message of the type {clean_text(kind)[:40]}, which can't be read here.]", []


def _file(kind: str, content: Mapping[str, Any]) -> tuple[str, list[RemoteFile]]:
    caption, declared = clean_text(content.get("caption")), clean_text(content.get("mime_type"))
    if content.get("animated") is True:
        return "[Animated sticker]", []
    label = VOICE if content.get("voice") is True else LABELS.get(kind, "")
    name = clean_text(content.get("filename")) or kind
    return caption, [RemoteFile(str(content["id"]), name, declared, label)]


def _contact(one: Mapping[str, Any]) -> str:
    return contact_text(one["name"].get("formatted_name"), (phone.get("phone") for phone in _list(one.get("phones"))))


def _status(id: str, raw: Mapping[str, Any], names: Mapping[Any, Any]) -> Item:
    state = STATES.get(raw["status"])
    if state is None:
        return IgnoredItem(id, f"The status {clean_text(raw['status'])[:40]} isn't known.")
    error: Any = next(iter(_list(raw.get("errors"))), {})
    reason = meaning_of(error) if state is ReceiptState.FAILED else ""
    at = datetime.fromtimestamp(int(raw["timestamp"]), UTC)
    key = raw.get("biz_opaque_callback_data")
    return ReceiptUpdate(id, str(raw["id"]), state, reason, at, key if isinstance(key, str) else "")


def _moment_of(item: Item) -> datetime:
    at = item.sent_at if isinstance(item, IncomingMessage) else item.at if isinstance(item, ReceiptUpdate) else None
    return at or datetime.max.replace(tzinfo=UTC)


def _is_contact(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("profile", {}), dict) and isinstance(one.get("wa_id"), str)


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []
