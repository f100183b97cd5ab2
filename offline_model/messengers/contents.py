"""The contents of messages that a business sends, as the customer sees them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from aiohttp.web import FileField

from offline_model.messengers.files import Files, SentFile, fetch_file

Json = dict[str, Any]
TELEGRAM_FILES = ("photo", "document", "audio", "video", "voice")


@dataclass(frozen=True)
class Content:
    """The words of a message, its buttons (`{"id", "label"}`) and its file."""

    text: str
    buttons: tuple[dict[str, str], ...] = ()
    file: SentFile | None = None


def telegram_content(body: Mapping[str, Any], *, files: Files) -> Content:
    """The content of sendMessage, sendPhoto or sendDocument."""
    sent = next((body[name] for name in TELEGRAM_FILES if isinstance(body.get(name), FileField)), None)
    rows = body.get("reply_markup", {}).get("inline_keyboard", [])
    buttons = tuple({"id": key["callback_data"], "label": key["text"]} for row in rows for key in row)
    return Content(str(body.get("text") or body.get("caption") or ""), buttons, sent and files.add(read_field(sent)))


async def twilio_content(form: Mapping[str, str], *, files: Files) -> Content:
    """The content of a text. Its picture is fetched from its address, which is shown if there is none."""
    url, text = form.get("MediaUrl", ""), form.get("Body", "") or form.get("ContentVariables", "")
    found = await fetch_file(url) if url else None
    if found is not None:
        return Content(text, file=files.add(found))
    return Content("\n".join(filter(None, (text, url))))


async def whatsapp_content(body: Json, *, files: Files, templates: Mapping[str, Json]) -> Content:
    """The content of a message of any type. `files` has those that were uploaded."""
    part: Json = body.get(body["type"], {})
    if body["type"] == "template":
        return await _template(part, templates.get(part["name"], {}), files=files)
    if body["type"] != "interactive":
        file = files.find(str(part.get("id", "")))
        named = replace(file, name=part["filename"]) if file and part.get("filename") else file
        return Content(part.get("body") or part.get("caption") or "", file=named)
    action = part["action"]
    replies = [one["reply"] for one in action.get("buttons", [])]
    rows = [row for section in action.get("sections", []) for row in section["rows"]]
    buttons = tuple({"id": one["id"], "label": one["title"]} for one in (*replies, *rows))
    return Content(part["body"]["text"], buttons)


async def _template(sent: Json, known: Json, *, files: Files) -> Content:
    """A template filled in, as the customer reads it."""
    texts, file = list[str](), None
    values = {one["type"]: one["parameters"] for one in sent.get("components", [])}
    for media in (one for one in values.get("header", []) if one["type"] in ("image", "video", "document")):
        given = media[media["type"]]
        file = files.find(given["id"]) if "id" in given else await fetch_file(given.get("link", ""))
    for part in known.get("components", []):
        words = [str(one.get("text") or one.get("coupon_code") or "") for one in values.get(part["type"].lower(), [])]
        texts.append(_filled(part.get("text", ""), words))
    texts += [one["text"] for one in values.get("button", []) if "text" in one]
    return Content("\n".join(filter(None, texts)) or f"[{sent['name']}]", file=file and files.add(file))


def _filled(text: str, words: list[str]) -> str:
    """The text with the words in the place of its numbered gaps."""
    numbered = {str(number): word for number, word in enumerate(words, start=1)}
    return re.sub(r"\{\{(\d+)\}\}", lambda gap: numbered.get(gap[1], ""), text)


def read_field(sent: FileField) -> SentFile:
    """The file of a form."""
    return SentFile(sent.filename, sent.content_type or "application/octet-stream", sent.file.read())
