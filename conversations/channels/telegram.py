"""Telegram's Bot API: updates that its webhook posts, and messages that a bot sends."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, cast

from django.conf import settings as django_settings

from conversations.channels.items import (
    ChatClosed,
    IgnoredItem,
    IncomingMessage,
    Item,
    RemoteFile,
    Sender,
    clean_text,
)
from conversations.channels.provider import LinkResult, MalformedWebhook, OutgoingPart, Provider, WebhookRequest
from conversations.channels.telegram_api import BotApi, read_outcome, send_file
from conversations.common.payloads import StoredAttachment
from conversations.models import Channel
from projects.connections.integrations import Connection, guard_for
from projects.connections.settings.telegram import TelegramSettings
from tools.engine.execution.outcome import Outcome

KIND = "telegram"
SECRET_HEADER = "x-telegram-bot-api-secret-token"  # noqa: S105 - the name of a header
UPDATES = ("message", "edited_message", "callback_query", "my_chat_member", "message_reaction")
NOT_UNDERSTOOD: Mapping[str, str] = {
    "voice": "a voice message",
    "audio": "an audio file",
    "video": "a video",
    "video_note": "a video message",
    "animation": "an animation",
    "poll": "a poll",
    "dice": "a dice",
    "game": "a game",
    "story": "a story",
    "paid_media": "paid media",
    "invoice": "an invoice",
}


class Telegram(Provider):
    """Telegram as a provider."""

    kind = KIND
    channel = Channel.TELEGRAM
    longest_part = longest_with_buttons = 4_096
    window: timedelta | None = None
    # Telegram shows it for five seconds.
    typing_seconds: float | None = 4.5
    receipt = b'{"ok": true}', "application/json"

    def account_of(self, connection: Connection) -> str:
        """The bot's id, which its token begins with."""
        bot, _, rest = connection.secret.partition(":")
        return bot if rest and bot.isdecimal() else sha256(connection.secret.encode()).hexdigest()[:16]

    def read_secret(self, document: Any) -> str:
        """The bot's token, as a string or as `{"bot_token"}`. Raises ValueError."""
        token = document.get("bot_token") if isinstance(document, dict) and len(document) == 1 else document
        # It becomes part of an address.
        if not isinstance(token, str) or not re.fullmatch(r"[A-Za-z0-9:_-]{1,200}", token):
            raise ValueError('Send the token as a string, or as {"bot_token": …}.')
        return token

    def webhook_of(self, connection: Connection) -> str:
        return f"{django_settings.BASE_URL}/hooks/{KIND}/{connection.source_id}"

    def is_genuine(self, connection: Connection, request: WebhookRequest) -> bool:
        given = request.headers.get(SECRET_HEADER, "")
        return bool(given) and hmac.compare_digest(given.encode(), webhook_secret(connection).encode())

    def parse(self, connection: Connection, request: WebhookRequest) -> Sequence[Item]:
        try:
            update = json.loads(request.body)
        except (ValueError, RecursionError):
            raise MalformedWebhook("The update is not JSON.") from None
        if not isinstance(update, dict) or type(update.get("update_id")) is not int:
            raise MalformedWebhook("The update has no update_id.")
        return [parse_update(update)]

    def parse_stored(self, body: Mapping[str, Any]) -> Item:
        return parse_update(body)

    async def fetch(self, connection: Connection, file: RemoteFile, *, max_bytes: int) -> bytes:
        return await _api(connection).fetch(file.ref, max_bytes=max_bytes)

    def carries(self, file: StoredAttachment, *, to: str) -> bool:
        return True

    async def send(self, connection: Connection, part: OutgoingPart) -> Outcome:
        if part.file is not None:
            return await send_file(_api(connection), part.file, to=part.chat_id)
        body: dict[str, Any] = {"chat_id": _chat_id(part.chat_id), "text": part.text}
        if part.buttons:
            keys = [[{"text": one.label[:64], "callback_data": _cut(one.id, 64)}] for one in part.buttons]
            body["reply_markup"] = {"inline_keyboard": keys}
        return read_outcome(await _api(connection).call("sendMessage", body), body)

    async def show_typing(self, connection: Connection, chat_id: str, message: str) -> None:
        await _api(connection).call("sendChatAction", {"chat_id": _chat_id(chat_id), "action": "typing"})

    async def acknowledge(self, connection: Connection, press: str) -> None:
        await _api(connection).call("answerCallbackQuery", {"callback_query_id": press})

    async def link(self, connection: Connection, *, webhook: str) -> LinkResult:
        body = {"url": webhook, "secret_token": webhook_secret(connection), "allowed_updates": list(UPDATES)}
        answer = await _api(connection).call("setWebhook", body)
        if not answer.is_ok:
            return LinkResult(problem=answer.problem, is_refused=answer.is_refused)
        bot = await _api(connection).call("getMe", {})
        name = str(bot.result.get("username") or "") if isinstance(bot.result, dict) else ""
        return LinkResult(name=f"@{name[:100]}" if name else "")

    async def unlink(self, connection: Connection) -> None:
        await _api(connection).call("deleteWebhook", {})

    async def inspect(self, connection: Connection, *, webhook: str) -> LinkResult:
        answer = await _api(connection).call("getWebhookInfo", {})
        if not answer.is_ok or not isinstance(answer.result, dict):
            return LinkResult(problem=answer.problem, is_refused=answer.is_refused)
        pending = answer.result.get("pending_update_count")
        pending = pending if isinstance(pending, int) else 0
        if answer.result.get("url") != webhook:
            return LinkResult(problem="Telegram sends its updates to another address.", pending=pending)
        return LinkResult(problem=clean_text(answer.result.get("last_error_message"))[:300], pending=pending)


def webhook_secret(connection: Connection) -> str:
    """The secret that Telegram sends with each update. It follows from the bot's token, so that none is stored."""
    return hmac.new(connection.secret.encode(), f"webhook {connection.source_id}".encode(), sha256).hexdigest()


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
    if isinstance(document := message.get("document"), dict) and "animation" not in message:
        name, declared = clean_text(document.get("file_name")), clean_text(document.get("mime_type"))
        return [RemoteFile(str(document["file_id"]), name or "file", declared)]
    return []


def _place(message: Mapping[str, Any]) -> str:
    place = message.get("location") or (message.get("venue") or {}).get("location")
    if not place:
        return ""
    venue = message.get("venue") or {}
    name = ", ".join(filter(None, (clean_text(venue.get("title")), clean_text(venue.get("address")))))
    point = f"{float(place['latitude']):.5f}, {float(place['longitude']):.5f}"
    return f"[Location: {name} ({point})]" if name else f"[Location: {point}]"


def _contact(message: Mapping[str, Any]) -> str:
    contact = message.get("contact")
    if not contact:
        return ""
    name = " ".join(filter(None, (clean_text(contact.get("first_name")), clean_text(contact.get("last_name")))))
    return f"[Contact: {name}, {clean_text(contact.get('phone_number'))}]"


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


def _chat_id(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text


def _cut(text: str, most: int) -> str:
    """The beginning of a text, at most so many bytes of UTF-8."""
    return text.encode()[:most].decode("utf-8", "ignore")


def _api(connection: Connection) -> BotApi:
    server = cast(TelegramSettings, connection.settings).base_url
    return BotApi(server, token=connection.secret, guard=guard_for(connection.settings))
