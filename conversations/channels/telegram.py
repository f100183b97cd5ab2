"""Telegram's Bot API: updates that its webhook posts, and messages that a bot sends."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Any, cast

from django.conf import settings as django_settings

from conversations.channels.items import (
    Item,
    RemoteFile,
    clean_text,
    storable,
)
from conversations.channels.provider import LinkResult, MalformedWebhook, OutgoingPart, Provider, WebhookRequest
from conversations.channels.telegram_api import BotApi, read_outcome, send_file
from conversations.channels.telegram_updates import parse_update
from conversations.common.payloads import StoredAttachment
from conversations.models import Channel
from projects.connections.integrations import Connection, guard_for
from projects.connections.settings.telegram import TelegramSettings
from tools.engine.execution.outcome import Outcome

KIND = "telegram"
SECRET_HEADER = "x-telegram-bot-api-secret-token"  # noqa: S105 - the name of a header
UPDATES = ("message", "edited_message", "callback_query", "my_chat_member", "message_reaction")


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
            update = storable(json.loads(request.body))
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


def _chat_id(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text


def _cut(text: str, most: int) -> str:
    """The beginning of a text, at most so many bytes of UTF-8."""
    return text.encode()[:most].decode("utf-8", "ignore")


def _api(connection: Connection) -> BotApi:
    server = cast(TelegramSettings, connection.settings).base_url
    return BotApi(server, token=connection.secret, guard=guard_for(connection.settings))
