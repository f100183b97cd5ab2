"""WhatsApp over Meta's Cloud API: batches of messages and statuses, and the messages of a number."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, cast

from django.conf import settings as django_settings

from conversations.channels.items import (
    IgnoredItem,
    IncomingMessage,
    Item,
    ReceiptUpdate,
    RemoteFile,
    Sender,
    clean_text,
)
from conversations.channels.provider import LinkResult, MalformedWebhook, OutgoingPart, Provider, WebhookRequest
from conversations.channels.whatsapp_api import CARRIED, GraphApi, meaning_of, read_outcome, send_file
from conversations.common.payloads import StoredAttachment
from conversations.models import Channel
from projects.connections.callbacks import can_call_back
from projects.connections.integrations import Connection, guard_for
from projects.connections.settings.whatsapp import WhatsAppSettings
from tools.engine.execution.outcome import Ending, ExpectedReceipt, Outcome
from tools.models import ReceiptState

KIND = "whatsapp"
MESSAGE = {"messaging_product": "whatsapp", "recipient_type": "individual"}
SIGNATURE = "x-hub-signature-256"
MOST_ITEMS = 1_000
SECRETS = frozenset({"access_token", "app_secret", "verify_token"})
FORM = 'Send {"access_token": …, "app_secret": …}, and "verify_token" if you chose one.'
STATES: Mapping[str, ReceiptState] = {
    "sent": ReceiptState.SENT,
    "delivered": ReceiptState.DELIVERED,
    "read": ReceiptState.READ,
    "failed": ReceiptState.FAILED,
}
Parser = Callable[[str, Mapping[str, Any], Mapping[Any, Any]], Item]
FILES = ("image", "document", "audio", "video", "sticker")
# Of buttons below a message, and of the rows of a list.
MOST_BUTTONS, LONGEST_BUTTON = 3, 20
MOST_ROWS, LONGEST_ROW, LONGEST_DESCRIPTION = 10, 24, 72


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
        try:
            document = json.loads(request.body)
        except (ValueError, RecursionError):
            raise MalformedWebhook("The webhook is not JSON.") from None
        if not isinstance(document, dict) or document.get("object") != "whatsapp_business_account":
            raise MalformedWebhook("The webhook is of no WhatsApp business account.")
        items = [item for change in _changes(document) for item in _items(change, self.account_of(connection))]
        # Oldest first, whatever the order of the batch.
        return sorted(items[:MOST_ITEMS], key=_moment_of)

    def parse_stored(self, body: Mapping[str, Any]) -> Item:
        return _parse(_message, str(body.get("id")), body, {})

    async def fetch(self, connection: Connection, file: RemoteFile, *, max_bytes: int) -> bytes:
        return await graph_api(connection).fetch(file.ref, max_bytes=max_bytes)

    def carries(self, file: StoredAttachment, *, to: str) -> bool:
        return file["size"] <= CARRIED.get(file["content_type"], 0)

    async def send(self, connection: Connection, part: OutgoingPart) -> Outcome:
        settings, api = _settings(connection), graph_api(connection)
        # Meta repeats the name of the effect in the message's statuses.
        body: dict[str, Any] = {**MESSAGE, "to": part.chat_id, "biz_opaque_callback_data": part.key}
        if part.file is not None:
            outcome = await send_file(api, part.file, body, number=settings.phone_number_id)
        else:
            body |= _content_of(part)
            outcome = read_outcome(await api.call("POST", f"{settings.phone_number_id}/messages", body), body)
        ref = outcome.result.get("message_ref")
        if outcome.ending is not Ending.DONE or not ref or not can_call_back(settings.server):
            return outcome
        return replace(outcome, receipt=ExpectedReceipt(ref, settings.receipts_within))

    async def show_typing(self, connection: Connection, chat_id: str, message: str) -> None:
        """It also marks the message as read."""
        body = {"messaging_product": "whatsapp", "status": "read", "message_id": message}
        path = f"{_settings(connection).phone_number_id}/messages"
        await graph_api(connection).call("POST", path, {**body, "typing_indicator": {"type": "text"}})

    async def acknowledge(self, connection: Connection, press: str) -> None:
        """Nothing waits for it."""

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
        point = f"{float(content['latitude']):.5f}, {float(content['longitude']):.5f}"
        name = clean_text(content.get("name"))
        return (f"[Location: {name} ({point})]" if name else f"[Location: {point}]"), []
    if kind == "contacts":
        people = [_contact(one) for one in _list(raw.get("contacts"))]
        return "\n".join(f"[Contact: {person}]" for person in people), []
    if kind in FILES:
        return _file(kind, content)
    return f"[The customer sent a message of the type {clean_text(kind)[:40]}, which can't be read here.]", []


def _file(kind: str, content: Mapping[str, Any]) -> tuple[str, list[RemoteFile]]:
    caption = clean_text(content.get("caption"))
    if kind in ("audio", "video", "sticker"):
        said = f"[The customer sent {'an' if kind == 'audio' else 'a'} {kind}, which can't be read here.]"
        return "\n".join(part for part in (caption, said) if part), []
    declared = clean_text(content.get("mime_type"))
    return caption, [RemoteFile(str(content["id"]), clean_text(content.get("filename")) or kind, declared)]


def _contact(one: Mapping[str, Any]) -> str:
    phones = [clean_text(phone.get("phone")) for phone in _list(one.get("phones"))]
    return ", ".join(filter(None, (clean_text(one["name"].get("formatted_name")), *phones)))


def _status(id: str, raw: Mapping[str, Any], names: Mapping[Any, Any]) -> Item:
    state = STATES.get(raw["status"])
    if state is None:
        return IgnoredItem(id, f"The status {clean_text(raw['status'])[:40]} isn't known.")
    error: Any = next(iter(_list(raw.get("errors"))), {})
    reason = meaning_of(error) if state is ReceiptState.FAILED else ""
    at = datetime.fromtimestamp(int(raw["timestamp"]), UTC)
    key = raw.get("biz_opaque_callback_data")
    return ReceiptUpdate(id, str(raw["id"]), state, reason, at, key if isinstance(key, str) else "")


def _content_of(part: OutgoingPart) -> dict[str, Any]:
    if part.template is not None:
        return {"type": "template", "template": dict(part.template)}
    return interactive(part) if part.buttons else {"type": "text", "text": {"body": part.text, "preview_url": False}}


def interactive(part: OutgoingPart) -> dict[str, Any]:
    """Buttons below the text, or a list if they are more or longer than fit there."""
    is_short = len(part.buttons) <= MOST_BUTTONS and all(len(one.label) <= LONGEST_BUTTON for one in part.buttons)
    kind, action = ("button", _replies(part)) if is_short else ("list", _rows(part))
    return {"type": "interactive", "interactive": {"type": kind, "body": {"text": part.text}, "action": action}}


def _replies(part: OutgoingPart) -> dict[str, Any]:
    return {"buttons": [{"type": "reply", "reply": {"id": one.id, "title": one.label}} for one in part.buttons]}


def _rows(part: OutgoingPart) -> dict[str, Any]:
    rows = [{"id": one.id, **_row(one.label)} for one in part.buttons[:MOST_ROWS]]
    return {"button": part.choose[:LONGEST_BUTTON] or "…", "sections": [{"rows": rows}]}


def _row(label: str) -> dict[str, str]:
    if len(label) <= LONGEST_ROW:
        return {"title": label}
    return {"title": f"{label[: LONGEST_ROW - 1]}…", "description": label[:LONGEST_DESCRIPTION]}


def _moment_of(item: Item) -> datetime:
    at = item.sent_at if isinstance(item, IncomingMessage) else item.at if isinstance(item, ReceiptUpdate) else None
    return at or datetime.max.replace(tzinfo=UTC)


def _is_contact(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("profile", {}), dict) and isinstance(one.get("wa_id"), str)


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _settings(connection: Connection) -> WhatsAppSettings:
    return cast(WhatsAppSettings, connection.settings)


def graph_api(connection: Connection) -> GraphApi:
    token = read_secrets(connection)["access_token"]
    return GraphApi(_settings(connection).base_url, token=token, guard=guard_for(connection.settings))
