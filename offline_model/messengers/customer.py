"""The customer's side: webhooks that the providers post for what the customer does."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp

from offline_model.messengers.chats import TELEGRAM, TWILIO, Bubble, Chat, Line, digits, new_id, next_number
from offline_model.messengers.files import SentFile
from offline_model.messengers.webhooks import (
    Json,
    Webhook,
    telegram_message,
    telegram_press,
    telegram_webhook,
    twilio_message,
    twilio_webhook,
    whatsapp_message,
    whatsapp_press,
    whatsapp_status,
    whatsapp_webhook,
)

WEBHOOK_SECONDS = 15.0
# Providers deliver a webhook again that wasn't answered.
TRIES, PAUSE_SECONDS = 5, 1.0
# Meta's and Twilio's errors for a customer who can't be reached.
NOT_ON_WHATSAPP, OUT_OF_REACH = 131026, "30003"


async def write(line: Line, chat: Chat, text: str, *, file: SentFile | None = None, media: str = "") -> int:
    """The customer writes, or sends a file, which is at the address `media`. Returns the status of the webhook, 0 if
    nobody answered.
    """
    bubble = Bubble(new_id(line.kind), text, is_mine=True, file=file)
    status = await post(_message(line, bubble, media=media))
    if status == 200:
        chat.add(bubble)
    return status


async def press(line: Line, chat: Chat, message: str, choice: str) -> int:
    """The customer presses a button. Returns the status of the webhook, 404 if there is no such button."""
    asked = next((one for one in chat.bubbles if one.id == message), None)
    button = next((one for one in asked.buttons if one["id"] == choice), None) if asked else None
    if asked is None or button is None:
        return 404
    bubble = Bubble(new_id(line.kind), button["label"], is_mine=True)
    status = await post(_choice(line, bubble, asked, button))
    if status == 200:
        chat.add(bubble)
    return status


async def look(line: Line, chat: Chat, *, is_open: bool) -> None:
    """The customer looks at the chat. WhatsApp reports that, and what wasn't reported yet."""
    if line.kind in (TELEGRAM, TWILIO):
        return
    for bubble in [one for one in chat.bubbles if not one.is_mine]:
        if not bubble.is_reported:
            await report(line, chat, bubble)
        if is_open and not bubble.is_read and chat.is_reachable:
            bubble.is_read = True
            await post(_status(line, bubble.id, "read"))


async def report(line: Line, chat: Chat, bubble: Bubble) -> None:
    """Meta's report on a message of the business."""
    bubble.is_reported = True
    if chat.is_reachable:
        for status in ("sent", "delivered"):
            await post(_status(line, bubble.id, status))
        return
    bubble.is_read = True
    error = {"code": NOT_ON_WHATSAPP, "title": "Message undeliverable"}
    await post(_status(line, bubble.id, "failed", error))


async def change_reach(line: Line, chat: Chat, *, is_reachable: bool) -> None:
    """Switch the phone off or on. In Telegram, the customer blocks the bot, which Telegram reports."""
    if chat.is_reachable == is_reachable:
        return
    chat.is_reachable = is_reachable
    if line.kind == TELEGRAM:
        member = {"status": "member" if is_reachable else "kicked"}
        chat_of = {"id": int(digits(line.customer)), "type": "private"}
        change = {"chat": chat_of, "from": {"id": chat_of["id"]}, "new_chat_member": member}
        update = {"update_id": next_number(), "my_chat_member": change}
        await post(telegram_webhook(line.webhook, update, secret=line.secret))


async def report_text(form: dict[str, str], *, sid: str, token: str, id: str, is_reachable: bool) -> None:
    """Twilio's status callbacks of a text."""
    url = form.get("StatusCallback", "")
    if not url:
        return
    fields = {"AccountSid": sid, "MessageSid": id, "From": form.get("From", ""), "To": form["To"]}
    ending = {"MessageStatus": "delivered"}
    if not is_reachable:
        ending = {"MessageStatus": "undelivered", "ErrorCode": OUT_OF_REACH}
    for status in ({"MessageStatus": "sent"}, ending):
        await post(twilio_webhook(url, {**fields, **status}, secret=token))


async def post(webhook: Webhook) -> int:
    """Post a webhook until it is answered. Returns the status, 0 without an answer."""
    status = 0
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(WEBHOOK_SECONDS)) as http:
        for number in range(TRIES):
            if number:
                await asyncio.sleep(PAUSE_SECONDS)
            try:
                async with http.post(webhook.url, data=webhook.body, headers=webhook.headers) as answer:
                    status = answer.status
            except (aiohttp.ClientError, TimeoutError):
                status = 0
            if 0 < status < 500:
                break
    return status


def _message(line: Line, bubble: Bubble, *, media: str) -> Webhook:
    sender = digits(line.customer)
    if line.kind == TELEGRAM:
        update = telegram_message(int(bubble.id), bubble.text, chat=int(sender), name=line.name, file=bubble.file)
        return telegram_webhook(line.webhook, update, secret=line.secret)
    if line.kind == TWILIO:
        fields = {"MessageSid": bubble.id, "AccountSid": line.account, "From": f"+{sender}", "To": line.number}
        form = twilio_message(fields, bubble.text, file=bubble.file, media=media)
        return twilio_webhook(line.webhook, form, secret=line.secret)
    value = whatsapp_message(bubble.id, bubble.text, sender=sender, name=line.name, file=bubble.file)
    return whatsapp_webhook(line.webhook, value, number_id=line.account, secret=line.secret)


def _choice(line: Line, bubble: Bubble, asked: Bubble, button: dict[str, str]) -> Webhook:
    sender = digits(line.customer)
    if line.kind == TELEGRAM:
        update = telegram_press(int(bubble.id), int(asked.id), button, chat=int(sender), name=line.name)
        return telegram_webhook(line.webhook, update, secret=line.secret)
    value = whatsapp_press(bubble.id, asked.id, button, sender=sender, name=line.name)
    return whatsapp_webhook(line.webhook, value, number_id=line.account, secret=line.secret)


def _status(line: Line, id: str, status: str, *errors: Json) -> Webhook:
    value: dict[str, Any] = whatsapp_status(id, status, errors=errors)
    return whatsapp_webhook(line.webhook, value, number_id=line.account, secret=line.secret)
