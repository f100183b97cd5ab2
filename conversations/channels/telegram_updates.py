"""The items of Telegram's updates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from conversations.channels.items import (
    ChatClosed,
    IgnoredItem,
    IncomingMessage,
    Item,
    RemoteFile,
    Sender,
    clean_text,
    contact_text,
    place_text,
)
from conversations.common.file_lines import AUDIO, VIDEO, VOICE

MEDIA: Mapping[str, tuple[str, str, str]] = {
    "voice": (VOICE, "voice.ogg", "audio/ogg"),
    "audio": (AUDIO, "audio", "audio/mpeg"),
    "video": (VIDEO, "video", "video/mp4"),
    "video_note": (VIDEO, "video", "video/mp4"),
    "animation": (VIDEO, "animation", "video/mp4"),
}
# A longer one is no message of a customer.
LONGEST_SECONDS = 86_400
NOT_UNDERSTOOD: Mapping[str, str] = {
    "poll": "a poll",
    "dice": "a dice",
    "game": "a game",
    "story": "a story",
    "paid_media": "paid media",
    "invoice": "an invoice",
}


def parse_update(update: Mapping[str, Any]) -> Item:
    """The item of an update. One of an unknown type is ignored by name."""
    id = str(update["update_id"])
    try:
        for name, parse in PARSERS.items():
            if isinstance(found := update.get(name), dict):
                return parse(id, found, update)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError):
        return IgnoredItem(id, "The update is malformed.", is_malformed=True)
    name = next((key for key in update if key != "update_id"), "nothing")
    return IgnoredItem(id, f"Updates of the type {clean_text(name)[:60]} aren't understood.")


def _message(id: str, message: Mapping[str, Any], update: Mapping[str, Any], *, edits: bool = False) -> Item:
    chat, sender = message["chat"], message.get("from") or {}
    if chat.get("type") != "private":
        return IgnoredItem(id, "Only private chats are answered, no groups or channels.")
    if sender.get("is_bot"):
        return IgnoredItem(id, "Bots aren't answered.")
    text, files = _content(message)
    if not text and not files:
        return IgnoredItem(id, "The message has nothing that can be read.")
    return IncomingMessage(
        external_id=id,
        message_ref=str(int(message["message_id"])),
        chat_id=str(int(chat["id"])),
        sender=_sender(sender or chat),
        text=text,
        sent_at=_moment(message["edit_date"] if edits and "edit_date" in message else message["date"]),
        files=files,
        edits=edits,
        body=update,
    )


def _edited(id: str, message: Mapping[str, Any], update: Mapping[str, Any]) -> Item:
    return _message(id, message, update, edits=True)


def _button(id: str, query: Mapping[str, Any], update: Mapping[str, Any]) -> Item:
    """A pressed button: its label is the customer's message. Pressed twice, it is one message."""
    message, choice = query["message"], clean_text(query.get("data"))
    if message["chat"].get("type") != "private" or not choice:
        return IgnoredItem(id, "The button says nothing.")
    return IncomingMessage(
        external_id=id,
        message_ref=f"button {int(message['message_id'])} {choice}"[:200],
        chat_id=str(int(message["chat"]["id"])),
        sender=_sender(query["from"]),
        text=_label(message, choice) or choice,
        sent_at=None,
        body=update,
        choice=choice,
        press=clean_text(query["id"])[:100],
    )


def _label(message: Mapping[str, Any], choice: str) -> str:
    """The label of the button with this data, from the keyboard of its message."""
    rows = (message.get("reply_markup") or {}).get("inline_keyboard") or []
    return next((clean_text(key.get("text")) for row in rows for key in row if key.get("callback_data") == choice), "")


def _membership(id: str, change: Mapping[str, Any], update: Mapping[str, Any]) -> Item:
    if change["chat"].get("type") != "private":
        return IgnoredItem(id, "Only private chats are answered, no groups or channels.")
    is_open = change["new_chat_member"]["status"] not in ("kicked", "left")
    return ChatClosed(id, str(int(change["chat"]["id"])), is_open)


def _reaction(id: str, reaction: Mapping[str, Any], update: Mapping[str, Any]) -> Item:
    emoji = "".join(clean_text(one.get("emoji")) for one in reaction.get("new_reaction", [])[:5])
    return IgnoredItem(id, f"The customer reacted with {emoji}." if emoji else "The customer took a reaction back.")


PARSERS = {
    "message": _message,
    "edited_message": _edited,
    "callback_query": _button,
    "my_chat_member": _membership,
    "message_reaction": _reaction,
}


def _content(message: Mapping[str, Any]) -> tuple[str, list[RemoteFile]]:
    """The text and the files of a message. What can't be shown is named in brackets."""
    text = clean_text(message.get("text") or message.get("caption"))
    files = _files(message)
    named = _place(message) or _contact(message) or _sticker(message) or _other(message)
    return "\n".join(part for part in (text, named) if part), files


def _files(message: Mapping[str, Any]) -> list[RemoteFile]:
    if sizes := message.get("photo"):
        largest = max(sizes, key=lambda size: int(size.get("file_size") or size.get("width") or 0))
        return [RemoteFile(str(largest["file_id"]), "photo.jpg", "image/jpeg")]
    if kind := next((kind for kind in MEDIA if isinstance(message.get(kind), dict)), None):
        return [_media(message[kind], *MEDIA[kind])]
    if isinstance(sticker := message.get("sticker"), dict) and not (
        sticker.get("is_animated") or sticker.get("is_video")
    ):
        return [RemoteFile(str(sticker["file_id"]), "sticker.webp", "image/webp")] if "file_id" in sticker else []
    if isinstance(document := message.get("document"), dict):
        name, declared = clean_text(document.get("file_name")), clean_text(document.get("mime_type"))
        return [RemoteFile(str(document["file_id"]), name or "file", declared)]
    return []


def _media(found: Mapping[str, Any], label: str, usual: str, declared: str) -> RemoteFile:
    name, seconds = clean_text(found.get("file_name")) or usual, found.get("duration")
    length = seconds if isinstance(seconds, int) and 0 < seconds < LONGEST_SECONDS else None
    return RemoteFile(str(found["file_id"]), name, clean_text(found.get("mime_type")) or declared, label, length)


def _place(message: Mapping[str, Any]) -> str:
    place = message.get("location") or (message.get("venue") or {}).get("location")
    if not place:
        return ""
    venue = message.get("venue") or {}
    return place_text(place["latitude"], place["longitude"], venue.get("title"), venue.get("address"))


def _contact(message: Mapping[str, Any]) -> str:
    contact = message.get("contact")
    if not contact:
        return ""
    name = " ".join(filter(None, (clean_text(contact.get("first_name")), clean_text(contact.get("last_name")))))
    return contact_text(name, [contact.get("phone_number")])


def _sticker(message: Mapping[str, Any]) -> str:
    sticker = message.get("sticker")
    return f"[Sticker {clean_text(sticker.get('emoji'))}]".replace(" ]", "]") if sticker else ""


def _other(message: Mapping[str, Any]) -> str:
    kind = next((kind for kind in NOT_UNDERSTOOD if kind in message), None)
    return f"[The customer sent {NOT_UNDERSTOOD[kind]}, which can't be read here.]" if kind else ""


def _sender(user: Mapping[str, Any]) -> Sender:
    name = " ".join(filter(None, (clean_text(user.get("first_name")), clean_text(user.get("last_name")))))
    language = clean_text(user.get("language_code"))
    return Sender(
        external_id=str(int(user["id"])),
        name=name[:200],
        language=language if re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", language) else "",
    )


def _moment(seconds: Any) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)
