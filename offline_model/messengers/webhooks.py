"""Webhooks of messengers, in the form of each provider and signed as it signs them."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from offline_model.messengers.files import SentFile
from offline_model.relay.signing import signature

Json = dict[str, Any]
JSON = "application/json"


@dataclass(frozen=True)
class Webhook:
    """A signed request, ready to be posted to `url`."""

    url: str
    body: bytes
    headers: Mapping[str, str]


def telegram_webhook(url: str, update: Json, *, secret: str) -> Webhook:
    """An update of Telegram, with the secret that `setWebhook` named."""
    headers = {"Content-Type": JSON, "X-Telegram-Bot-Api-Secret-Token": secret}
    return Webhook(url, json.dumps(update).encode(), headers)


def whatsapp_webhook(url: str, value: Json, *, number_id: str, secret: str) -> Webhook:
    """Messages or statuses of a number at Meta, signed with the app's secret."""
    whole = {"messaging_product": "whatsapp", "metadata": {"phone_number_id": number_id}, **value}
    entry = {"id": "1", "changes": [{"field": "messages", "value": whole}]}
    body = json.dumps({"object": "whatsapp_business_account", "entry": [entry]}).encode()
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return Webhook(url, body, {"Content-Type": JSON, "X-Hub-Signature-256": f"sha256={digest}"})


def twilio_webhook(url: str, fields: Mapping[str, str], *, secret: str) -> Webhook:
    """A message or a status of Twilio, signed with the account's auth token."""
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Twilio-Signature": signature(url, fields, token=secret),
    }
    return Webhook(url, urlencode(fields).encode(), headers)


def telegram_message(number: int, text: str, *, chat: int, name: str, file: SentFile | None = None) -> Json:
    """The update with a customer's message. `number` identifies both."""
    sender = {"id": chat, "is_bot": False, "first_name": name}
    said = {"text": text} if file is None else {**_telegram_file(file), **({"caption": text} if text else {})}
    message = {"message_id": number, "from": sender, "chat": {"id": chat, "type": "private"}, **said}
    return {"update_id": number, "message": {**message, "date": int(time.time())}}


def _telegram_file(file: SentFile) -> Json:
    found = {"file_id": file.id, "file_unique_id": file.id, "file_size": len(file.content)}
    if file.kind == "image":
        return {"photo": [{**found, "width": 640, "height": 480}]}
    return {file.kind: {**found, "file_name": file.name, "mime_type": file.content_type}}


def telegram_press(number: int, message: int, button: Mapping[str, str], *, chat: int, name: str) -> Json:
    """The update with a pressed button of a message."""
    keys = [[{"text": button["label"], "callback_data": button["id"]}]]
    asked = {"message_id": message, "chat": {"id": chat, "type": "private"}, "reply_markup": {"inline_keyboard": keys}}
    sender = {"id": chat, "is_bot": False, "first_name": name}
    query = {"id": str(number), "from": sender, "message": asked, "data": button["id"]}
    return {"update_id": number, "callback_query": query}


def whatsapp_message(id: str, text: str, *, sender: str, name: str, file: SentFile | None = None) -> Json:
    """The value of a change with a customer's message. `sender` is a number without its plus."""
    kind, said = ("text", {"body": text}) if file is None else _whatsapp_file(file, text)
    message = {"from": sender, "id": id, "timestamp": str(int(time.time())), "type": kind, kind: said}
    contact = {"wa_id": sender, "profile": {"name": name}}
    return {"contacts": [contact], "messages": [message]}


def _whatsapp_file(file: SentFile, caption: str) -> tuple[str, Json]:
    found: Json = {"id": file.id, "mime_type": file.content_type, **({"caption": caption} if caption else {})}
    if file.kind in ("voice", "audio"):
        return "audio", {**found, "voice": file.kind == "voice"}
    return file.kind, {**found, **({"filename": file.name} if file.kind == "document" else {})}


def twilio_message(fields: Mapping[str, str], text: str, *, file: SentFile | None, media: str) -> Json:
    """The fields of a customer's text. `media` is the address of its file."""
    files = {"MediaUrl0": media, "MediaContentType0": file.content_type} if file else {}
    return {**fields, "Body": text, "NumMedia": str(int(file is not None)), **files}


def whatsapp_press(id: str, message: str, button: Mapping[str, str], *, sender: str, name: str) -> Json:
    """The value of a change with a pressed button of a message."""
    value = whatsapp_message(id, "", sender=sender, name=name)
    [pressed] = value["messages"]
    del pressed["text"]
    reply = {"type": "button_reply", "button_reply": {"id": button["id"], "title": button["label"]}}
    pressed |= {"type": "interactive", "context": {"id": message}, "interactive": reply}
    return value


def whatsapp_status(id: str, status: str, *, errors: tuple[Json, ...]) -> Json:
    """The value of a change that reports on a message of the business."""
    report = {"id": id, "status": status, "timestamp": str(int(time.time()))}
    return {"statuses": [{**report, **({"errors": list(errors)} if errors else {})}]}
