"""The providers' HTTP side: their APIs for messages of the business, and the doors to the customer's phone."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import Coroutine
from typing import Any

from aiohttp import web

from offline_model.messengers.chats import (
    TELEGRAM,
    TWILIO,
    WHATSAPP,
    Bubble,
    Chat,
    Chats,
    Line,
    new_id,
)
from offline_model.messengers.contents import (
    Content,
    read_field,
    telegram_content,
    twilio_content,
    whatsapp_content,
)
from offline_model.messengers.customer import change_reach, look, press, report, report_text, write
from offline_model.messengers.files import Files, SentFile
from offline_model.messengers.templates import BY_NAME, TEMPLATES

Json = dict[str, Any]


class OfflineMessengers:
    """All chats. Every account is known: credentials are accepted as they come."""

    def __init__(self) -> None:
        self._chats = Chats()
        self._files = Files()
        # The webhook of each bot, as set with setWebhook.
        self._webhooks: dict[str, Json] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def app(self) -> web.Application:
        """The application. `/doors/…` is for the customer, everything else is the providers' own API."""
        app = web.Application()
        twilio = "/twilio/2010-04-01/Accounts/{account}"
        app.add_routes(
            [
                web.post("/telegram/bot{token}/{method}", self._telegram),
                web.get(f"{twilio}.json", self._twilio_account),
                web.post(f"{twilio}/Messages.json", self._twilio_message),
                web.get("/telegram/file/bot{token}/{id}", self._file),
                web.get(f"{twilio}/Messages/{{message}}/Media/{{id}}", self._file),
                web.get("/whatsapp/{version}/{account}", self._whatsapp_object),
                web.get("/whatsapp/{version}/{account}/message_templates", self._whatsapp_templates),
                web.get("/whatsapp/{version}/files/{id}", self._file),
                web.post("/whatsapp/{version}/{account}/messages", self._whatsapp_message),
                web.post("/whatsapp/{version}/{account}/media", self._whatsapp_media),
                web.get("/doors/webhooks/{bot}", self._webhook),
                web.get("/doors/files/{id}", self._file),
                web.post("/doors/{door}", self._door),
            ]
        )
        return app

    async def _telegram(self, request: web.Request) -> web.Response:
        bot, method = request.match_info["token"].partition(":")[0], request.match_info["method"]
        is_form = request.content_type == "multipart/form-data"
        body: Json = {**await request.post()} if is_form else await request.json()
        if method == "getMe":
            return _bot_answer({"id": int(bot), "is_bot": True, "username": "offline_bot"})
        if method == "getWebhookInfo":
            return _bot_answer({"url": self._webhooks.get(bot, {}).get("url", ""), "pending_update_count": 0})
        if method in ("setWebhook", "deleteWebhook"):
            self._webhooks[bot] = body
            return _bot_answer(True)
        if method in ("sendChatAction", "answerCallbackQuery"):
            return _bot_answer(True)
        if method == "getFile":
            return self._telegram_file(body)
        if method not in ("sendMessage", "sendPhoto", "sendDocument"):
            return _bot_error(404, "Not Found")
        chat = self._chats.of(TELEGRAM, bot, str(body["chat_id"]))
        if not chat.is_reachable:
            return _bot_error(403, "Forbidden: bot was blocked by the user")
        bubble = _bubble(chat, TELEGRAM, telegram_content(body, files=self._files))
        return _bot_answer({"message_id": int(bubble.id), "date": int(bubble.at), "chat": {"id": body["chat_id"]}})

    def _telegram_file(self, body: Json) -> web.Response:
        found = self._files.find(str(body.get("file_id")))
        if found is None:
            return _bot_error(400, "Bad Request: invalid file_id")
        return _bot_answer({"file_id": found.id, "file_size": len(found.content), "file_path": found.id})

    async def _file(self, request: web.Request) -> web.Response:
        """Serve a file to anyone who knows its id."""
        found = self._files.find(request.match_info["id"])
        if found is None:
            raise web.HTTPNotFound
        return web.Response(body=found.content, headers={"Content-Type": found.content_type})

    async def _twilio_account(self, request: web.Request) -> web.Response:
        return web.json_response({"sid": request.match_info["account"], "status": "active"})

    async def _twilio_message(self, request: web.Request) -> web.Response:
        sid, token = _credentials(request)
        form = {name: str(value) for name, value in (await request.post()).items()}
        chat = self._chats.of(TWILIO, sid, form["To"])
        bubble = _bubble(chat, TWILIO, await twilio_content(form, files=self._files))
        self._start(report_text(form, sid=sid, token=token, id=bubble.id, is_reachable=chat.is_reachable))
        return web.json_response({"sid": bubble.id, "status": "queued", "to": form["To"]}, status=201)

    async def _whatsapp_object(self, request: web.Request) -> web.Response:
        """The address of a file, or a number."""
        id = request.match_info["account"]
        found = self._files.find(id)
        if found is None:
            return web.json_response({"id": id, "verified_name": "Offline", "display_phone_number": "+1 415-555-0100"})
        url = f"{request.url.origin()}{request.path.rpartition('/')[0]}/files/{id}"
        size = len(found.content)
        return web.json_response({"id": id, "url": url, "mime_type": found.content_type, "file_size": size})

    async def _whatsapp_templates(self, request: web.Request) -> web.Response:
        return web.json_response({"data": TEMPLATES, "paging": {}})

    async def _whatsapp_message(self, request: web.Request) -> web.Response:
        account, body = request.match_info["account"], await request.json()
        if "status" in body:
            # The business has read a message, or writes.
            return web.json_response({"success": True})
        chat = self._chats.of(WHATSAPP, account, body["to"])
        bubble = _bubble(chat, WHATSAPP, await whatsapp_content(body, files=self._files, templates=BY_NAME))
        if chat.line is not None:
            self._start(report(chat.line, chat, bubble))
        return web.json_response({"messaging_product": "whatsapp", "messages": [{"id": bubble.id}]})

    async def _whatsapp_media(self, request: web.Request) -> web.Response:
        form = await request.post()
        sent = form["file"]
        if not isinstance(sent, web.FileField):
            return web.json_response({"error": {"code": 100, "message": "The file is missing."}}, status=400)
        return web.json_response({"id": self._files.add(read_field(sent)).id})

    async def _webhook(self, request: web.Request) -> web.Response:
        """Return the webhook that a bot told with setWebhook."""
        return web.json_response(self._webhooks.get(request.match_info["bot"], {}))

    async def _door(self, request: web.Request) -> web.Response:
        """Do what a customer does: `{"line": …}`, with `text` and a `file` (`name`, `type`, `content` in base64) to write,
        `message` and `choice` to press a button, `open` to look, or `reachable` to switch.

        Returns the chat, with the status of the webhook for words that were written.
        """
        body: Json = await request.json()
        line, status = Line(**body["line"]), 200
        chat = self._know(line)
        match request.match_info["door"]:
            case "write":
                await change_reach(line, chat, is_reachable=True)
                file = self._given(body.get("file"))
                media = f"{request.url.origin()}{request.path.partition('/doors/')[0]}{_media_path(line, file)}"
                status = await write(line, chat, body["text"], file=file, media=media)
            case "press":
                await change_reach(line, chat, is_reachable=True)
                status = await press(line, chat, body["message"], body["choice"])
            case "look":
                self._start(look(line, chat, is_open=body.get("open", False)))
            case "reach":
                await change_reach(line, chat, is_reachable=body["reachable"])
            case _:
                return web.json_response({"error": "Unknown door."}, status=404)
        bubbles = [bubble.document for bubble in chat.bubbles]
        return web.json_response({"status": status, "messages": bubbles, "reachable": chat.is_reachable})

    def _given(self, file: Json | None) -> SentFile | None:
        """The customer's file."""
        return self._files.add(SentFile(file["name"], file["type"], b64decode(file["content"]))) if file else None

    def _know(self, line: Line) -> Chat:
        if line.kind == TELEGRAM:
            self._webhooks.setdefault(line.account, {"url": line.webhook, "secret_token": line.secret})
        chat = self._chats.of(line.kind, line.account, line.customer)
        chat.line = line
        return chat

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something after the answer, as a provider does."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _bubble(chat: Chat, kind: str, content: Content) -> Bubble:
    return chat.add(Bubble(new_id(kind), content.text, is_mine=False, buttons=content.buttons, file=content.file))


def _media_path(line: Line, file: SentFile | None) -> str:
    """Twilio's path of a file that came with a text."""
    return f"/twilio/2010-04-01/Accounts/{line.account}/Messages/MM/Media/{file.id}" if file else ""


def _credentials(request: web.Request) -> tuple[str, str]:
    """The account and token of a request to Twilio."""
    encoded = request.headers.get("Authorization", "").removeprefix("Basic ")
    account, _, token = b64decode(encoded).decode().partition(":")
    return account, token


def _bot_answer(result: Any) -> web.Response:
    return web.json_response({"ok": True, "result": result})


def _bot_error(status: int, description: str) -> web.Response:
    return web.json_response({"ok": False, "error_code": status, "description": description}, status=status)
