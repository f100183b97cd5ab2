"""WhatsApp over Meta's Cloud API as a provider, and its secrets."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import Any, cast

from django.conf import settings as django_settings

from conversations.channels.items import Item, RemoteFile, clean_text
from conversations.channels.provider import LinkResult, OutgoingPart, Provider, WebhookRequest
from conversations.channels.whatsapp_api import CARRIED, GraphApi
from conversations.channels.whatsapp_messages import send_part
from conversations.channels.whatsapp_webhook import parse_message, parse_webhook
from conversations.common.payloads import StoredAttachment
from conversations.models import Channel
from projects.connections.callbacks import can_call_back
from projects.connections.integrations import Connection, guard_for
from projects.connections.settings.whatsapp import WhatsAppSettings
from tools.engine.execution.outcome import Ending, ExpectedReceipt, Outcome

KIND = "whatsapp"
MESSAGE = {"messaging_product": "whatsapp", "recipient_type": "individual"}
SIGNATURE = "x-hub-signature-256"
SECRETS = frozenset({"access_token", "app_secret", "verify_token"})
FORM = 'Send {"access_token": …, "app_secret": …}, and "verify_token" if you chose one.'


class WhatsApp(Provider):
    """WhatsApp as a provider."""

    kind = KIND
    channel = Channel.WHATSAPP
    longest_part = 4_096
    longest_with_buttons = 1_024
    # Free text only reaches a customer who wrote within this time.
    window: timedelta | None = timedelta(hours=24)
    # WhatsApp shows it for 25 seconds.
    typing_seconds: float | None = 24.0
    receipt = b'{"ok": true}', "application/json"

    def account_of(self, connection: Connection) -> str:
        return _settings(connection).phone_number_id

    def read_secret(self, document: Any) -> str:
        """The three secrets as one text. Raises ValueError."""
        if not isinstance(document, dict) or not {"access_token", "app_secret"} <= set(document) <= SECRETS:
            raise ValueError(FORM)
        if not all(isinstance(value, str) and value.isprintable() for value in document.values()):
            raise ValueError(FORM)
        return json.dumps(document, sort_keys=True)

    def webhook_of(self, connection: Connection) -> str:
        return f"{django_settings.BASE_URL}/hooks/{KIND}/{connection.source_id}"

    def receipts_within(self, connection: Connection) -> timedelta:
        return _settings(connection).receipts_within

    def is_genuine(self, connection: Connection, request: WebhookRequest) -> bool:
        given, secret = request.headers.get(SIGNATURE, ""), read_secrets(connection)["app_secret"]
        expected = f"sha256={hmac.new(secret.encode(), request.body, sha256).hexdigest()}"
        return bool(secret) and hmac.compare_digest(given.encode(), expected.encode())

    def parse(self, connection: Connection, request: WebhookRequest) -> Sequence[Item]:
        return parse_webhook(request.body, number_id=self.account_of(connection))

    def parse_stored(self, body: Mapping[str, Any]) -> Item:
        return parse_message(body)

    async def fetch(self, connection: Connection, file: RemoteFile, *, max_bytes: int) -> bytes:
        return await graph_api(connection).fetch(file.ref, max_bytes=max_bytes)

    def carries(self, file: StoredAttachment, *, to: str) -> bool:
        return file["size"] <= CARRIED.get(file["content_type"], 0)

    async def send(self, connection: Connection, part: OutgoingPart) -> Outcome:
        settings, api = _settings(connection), graph_api(connection)
        # Meta repeats the name of the effect in the message's statuses.
        body: dict[str, Any] = {**MESSAGE, "to": part.chat_id, "biz_opaque_callback_data": part.key}
        outcome = await send_part(api, part, body, number=settings.phone_number_id)
        ref = outcome.result.get("message_ref")
        if outcome.ending is not Ending.DONE or not ref or not can_call_back(settings.server):
            return outcome
        return replace(outcome, receipt=ExpectedReceipt(ref, settings.receipts_within))

    async def show_typing(self, connection: Connection, chat_id: str, message: str) -> None:
        """Show that the agent writes. WhatsApp also marks the message as read."""
        body = {"messaging_product": "whatsapp", "status": "read", "message_id": message}
        path = f"{_settings(connection).phone_number_id}/messages"
        await graph_api(connection).call("POST", path, {**body, "typing_indicator": {"type": "text"}})

    async def acknowledge(self, connection: Connection, press: str) -> None:
        """WhatsApp expects no acknowledgment of a pressed button."""

    async def link(self, connection: Connection, *, webhook: str) -> LinkResult:
        """The webhook is entered in Meta's app dashboard, which verifies it at once."""
        return LinkResult()

    async def unlink(self, connection: Connection) -> None:
        """Nothing to withdraw."""

    async def inspect(self, connection: Connection, *, webhook: str) -> LinkResult:
        path = f"{_settings(connection).phone_number_id}?fields=display_phone_number,verified_name"
        answer = await graph_api(connection).call("GET", path)
        name = clean_text(answer.document.get("display_phone_number"))
        return LinkResult(name=name[:100], problem=answer.problem, is_refused=answer.is_refused)


def verify_token(connection: Connection) -> str:
    """The token that Meta repeats when the webhook is entered: the chosen one, or one that follows from the secret."""
    secrets = read_secrets(connection)
    derived = hmac.new(secrets["app_secret"].encode(), f"verify {connection.source_id}".encode(), sha256)
    return secrets.get("verify_token") or derived.hexdigest()[:40]


def is_challenge_genuine(connection: Connection, token: str) -> bool:
    """True if Meta asks with the connection's token."""
    return bool(token) and hmac.compare_digest(token.encode(), verify_token(connection).encode())


def read_secrets(connection: Connection) -> dict[str, str]:
    return cast(dict[str, str], json.loads(connection.secret))


def _settings(connection: Connection) -> WhatsAppSettings:
    return cast(WhatsAppSettings, connection.settings)


def graph_api(connection: Connection) -> GraphApi:
    token = read_secrets(connection)["access_token"]
    return GraphApi(_settings(connection).base_url, token=token, guard=guard_for(connection.settings))
