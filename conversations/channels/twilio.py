"""Twilio's messages: texts, and WhatsApp over a Twilio number, with their status callbacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast
from urllib.parse import parse_qs, parse_qsl, urlsplit

from django.conf import settings as django_settings

from conversations.channels.items import (
    IgnoredItem,
    IncomingMessage,
    Item,
    ReceiptUpdate,
    RemoteFile,
    Sender,
    clean_text,
    place_text,
    storable,
)
from conversations.channels.media import fetch_file
from conversations.channels.provider import LinkResult, MalformedWebhook, OutgoingPart, Provider, WebhookRequest
from conversations.channels.templates import with_file
from conversations.common.file_lines import AUDIO, VIDEO, VOICE
from conversations.common.payloads import StoredAttachment
from conversations.models import Channel
from projects.common.phones import InvalidPhone, read_phone
from projects.connections.integrations import Connection, guard_for
from projects.connections.settings.twilio import TwilioSettings
from projects.connections.twilio import EFFECT, KIND, SIGNATURE, is_signed, status_callback
from tools.engine.execution.outcome import Outcome
from tools.models import ReceiptState
from tools.services.messaging.base import Mms, Sms, TemplateSms
from tools.services.messaging.twilio import MEANINGS, WHATSAPP, Twilio

MESSAGES = "/hooks/twilio/messages"
MOST_MEDIA = 10
WHATSAPP_WINDOW = timedelta(hours=24)
# By text to the United States and Canada, and on WhatsApp.
MOST_MEDIA_BYTES = 5 * 1024 * 1024
MMS_COUNTRIES = "+1"
MMS_TYPES = frozenset({"image/jpeg", "image/png", "image/gif"})
WHATSAPP_TYPES = frozenset({"image/jpeg", "image/png", "application/pdf"})
LABELS: Mapping[str, str] = {"audio": AUDIO, "video": VIDEO}
STATES: Mapping[str, ReceiptState] = {
    "accepted": ReceiptState.ACCEPTED,
    "queued": ReceiptState.ACCEPTED,
    "sending": ReceiptState.ACCEPTED,
    "sent": ReceiptState.SENT,
    "delivered": ReceiptState.DELIVERED,
    "read": ReceiptState.READ,
    "undelivered": ReceiptState.FAILED,
    "failed": ReceiptState.FAILED,
    "canceled": ReceiptState.FAILED,
}
# Errors that only a status callback names.
LATE_MEANINGS: Mapping[int, str] = {
    30003: "The customer's phone is switched off or out of reach.",
    30004: "The customer's carrier blocks texts from this number.",
    30005: "The customer's number doesn't exist any more.",
    30006: "The customer's number is a landline, which can't be texted.",
    30007: "The carrier filtered the text as spam.",
    30008: "The carrier gave no reason.",
    30034: "The sender's number isn't registered for texts to the United States (A2P 10DLC).",
}


class TwilioMessages(Provider):
    """Twilio as a provider. Its webhooks have shared addresses: the account and the number decide."""

    kind = KIND
    channel = Channel.SMS
    longest_part = 1_600
    longest_with_buttons = 0
    window: timedelta | None = None
    typing_seconds: float | None = None
    receipt = b"<?xml version='1.0' encoding='UTF-8'?><Response/>", "text/xml"

    def account_of(self, connection: Connection) -> str:
        return _settings(connection).account_sid

    def read_secret(self, document: Any) -> str:
        """The auth token, as a string or as `{"auth_token"}`. Raises ValueError."""
        token = document.get("auth_token") if isinstance(document, dict) and len(document) == 1 else document
        if not isinstance(token, str) or not token:
            raise ValueError('Send the auth token as a string, or as {"auth_token": …}.')
        return token

    def webhook_of(self, connection: Connection) -> str:
        return f"{django_settings.BASE_URL}{MESSAGES}"

    def receipts_within(self, connection: Connection) -> timedelta:
        return _settings(connection).receipts_within

    def is_genuine(self, connection: Connection, request: WebhookRequest) -> bool:
        fields, given = _fields(request.body), request.headers.get(SIGNATURE.lower(), "")
        settings = _settings(connection)
        if not given or fields.get("AccountSid") != settings.account_sid or not _is_ours(fields, settings):
            return False
        # A proxy may change the scheme or host of the address, which the provider called by its public form.
        form = {name: [value] for name, value in fields.items()}
        return any(is_signed(given, url, form, token=connection.secret) for url in {request.url, request.public_url})

    def parse(self, connection: Connection, request: WebhookRequest) -> Sequence[Item]:
        fields = storable(_fields(request.body))
        sid = fields.get("MessageSid") or fields.get("SmsSid")
        if not sid:
            raise MalformedWebhook("The webhook has no MessageSid.")
        status = fields.get("MessageStatus")
        if status and "Body" not in fields:
            return [_status(sid, status, fields, key=_effect_named(request.url))]
        return [_message(sid, fields)]

    def parse_stored(self, body: Mapping[str, Any]) -> Item:
        return _message(str(body.get("MessageSid") or body.get("SmsSid")), body)

    async def fetch(self, connection: Connection, file: RemoteFile, *, max_bytes: int) -> bytes:
        guard = guard_for(connection.settings)
        twilio = Twilio(_settings(connection), token=connection.secret, guard=guard)
        return await fetch_file(guard, file.ref, max_bytes=max_bytes, credentials=twilio.credentials_for(file.ref))

    def carries(self, file: StoredAttachment, *, to: str) -> bool:
        on_whatsapp = to.startswith(WHATSAPP)
        types = WHATSAPP_TYPES if on_whatsapp else MMS_TYPES if to.startswith(MMS_COUNTRIES) else frozenset[str]()
        return file["content_type"] in types and file["size"] <= MOST_MEDIA_BYTES

    def window_for(self, to: str) -> timedelta | None:
        """WhatsApp's rule holds for its numbers here as well."""
        return WHATSAPP_WINDOW if to.startswith(WHATSAPP) else None

    async def send(self, connection: Connection, part: OutgoingPart) -> Outcome:
        twilio = Twilio(
            _settings(connection),
            token=connection.secret,
            guard=guard_for(connection.settings),
            status_callback=status_callback(connection),
        )
        outcome = await twilio.send(_sms(part), key=part.key)
        sid = outcome.result.get("sid")
        return replace(outcome, told="", result={**outcome.result, "message_ref": str(sid or "")})

    async def show_typing(self, connection: Connection, chat_id: str, message: str) -> None:
        """Texts have nothing like it."""

    async def acknowledge(self, connection: Connection, press: str) -> None:
        """Nothing waits for it."""

    async def link(self, connection: Connection, *, webhook: str) -> LinkResult:
        """The webhooks are entered in Twilio's console, since a number may belong to a messaging service."""
        return LinkResult(name=_settings(connection).texts_from)

    async def unlink(self, connection: Connection) -> None:
        """Nothing to withdraw."""

    async def inspect(self, connection: Connection, *, webhook: str) -> LinkResult:
        twilio = Twilio(_settings(connection), token=connection.secret, guard=guard_for(connection.settings))
        outcome = await twilio.check_account()
        is_refused = outcome.result.get("needs_reauth") is True
        return LinkResult(name=_settings(connection).texts_from, problem=outcome.error, is_refused=is_refused)


def _sms(part: OutgoingPart) -> Sms:
    url = part.file.url if part.file else ""
    if part.template is not None:
        return TemplateSms(part.chat_id, "", **with_file(part.template, url))
    return Mms(part.chat_id, part.text, media=url) if url else Sms(part.chat_id, part.text)


def account_sid_of(body: bytes) -> str:
    """The account that a webhook names, before it is verified."""
    return _fields(body).get("AccountSid", "")


def _message(sid: str, fields: Mapping[str, str]) -> Item:
    chat_id, text = fields.get("From", ""), "\n".join(filter(None, (clean_text(fields.get("Body")), _place(fields))))
    files = _files(sid, fields)
    if not chat_id or not (text or files):
        return IgnoredItem(sid, "The message is empty.")
    address = chat_id.removeprefix(WHATSAPP)
    return IncomingMessage(
        external_id=sid,
        message_ref=sid,
        chat_id=chat_id[:200],
        sender=Sender(
            external_id=address[:150], name=clean_text(fields.get("ProfileName"))[:200], phone=_phone(address)
        ),
        text=text,
        sent_at=None,
        files=files,
        body=dict(fields),
        channel=Channel.WHATSAPP if chat_id.startswith(WHATSAPP) else None,
    )


def _place(fields: Mapping[str, str]) -> str:
    """The place that a customer of WhatsApp shared."""
    try:
        return place_text(fields["Latitude"], fields["Longitude"], fields.get("Label"), fields.get("Address"))
    except (KeyError, ValueError):
        return ""


def _files(sid: str, fields: Mapping[str, str]) -> list[RemoteFile]:
    count = fields.get("NumMedia", "0")
    number = min(int(count), MOST_MEDIA) if count.isdecimal() else 0
    return [_file(index, fields) for index in range(number) if f"MediaUrl{index}" in fields]


def _file(index: int, fields: Mapping[str, str]) -> RemoteFile:
    declared = clean_text(fields.get(f"MediaContentType{index}"))
    # WhatsApp's voice messages are the only ones of this type.
    kind = VOICE if declared.startswith("audio/ogg") else LABELS.get(declared.partition("/")[0], "")
    return RemoteFile(fields[f"MediaUrl{index}"], f"file {index + 1}", declared, kind)


def _effect_named(url: str) -> str:
    """The key of the effect in the address of a status; "" if it names none."""
    return parse_qs(urlsplit(url).query).get(EFFECT, [""])[0]


def _status(sid: str, status: str, fields: Mapping[str, str], *, key: str) -> Item:
    state = STATES.get(status)
    if state is None:
        return IgnoredItem(f"{sid}:{status}", f"The status {clean_text(status)[:40]} isn't known.")
    reason = _reason(fields) if state is ReceiptState.FAILED else ""
    return ReceiptUpdate(f"{sid}:{status}", sid, state, reason, key=key)


def _reason(fields: Mapping[str, str]) -> str:
    code = fields.get("ErrorCode", "")
    number = int(code) if code.isdecimal() else 0
    meaning = MEANINGS.get(number) or LATE_MEANINGS.get(number) or clean_text(fields.get("ErrorMessage"))
    return f"{meaning or 'Twilio gave no reason.'}{f' (Twilio {number})' if number else ''}"


def _is_ours(fields: Mapping[str, str], settings: TwilioSettings) -> bool:
    """True if the number of the message is the connection's. A messaging service has numbers of its own."""
    if "MessageStatus" in fields and "Body" not in fields:
        return True
    to, service = fields.get("To", "").removeprefix(WHATSAPP), fields.get("MessagingServiceSid")
    return to in (settings.number, settings.sender) or service == settings.sender


def _phone(address: str) -> str:
    try:
        return read_phone(address, region="US") if address.startswith("+") else ""
    except InvalidPhone:
        return ""


def _fields(body: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=200))
    except (UnicodeDecodeError, ValueError):
        return {}


def _settings(connection: Connection) -> TwilioSettings:
    return cast(TwilioSettings, connection.settings)
