"""The contents of messages that a business sends, as the customer sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Content:
    """The words of a message, or the name of its file, and its buttons: `{"id", "label"}`."""

    text: str
    buttons: tuple[dict[str, str], ...] = ()


def telegram_content(body: Mapping[str, Any]) -> Content:
    """The content of sendMessage, sendPhoto or sendDocument."""
    file = body.get("photo") or body.get("document")
    rows = body.get("reply_markup", {}).get("inline_keyboard", [])
    buttons = tuple({"id": key["callback_data"], "label": key["text"]} for row in rows for key in row)
    return Content(str(body.get("text") or body.get("caption") or getattr(file, "filename", "")), buttons)


def twilio_content(form: Mapping[str, str]) -> Content:
    """The content of a text. Its picture is an address."""
    return Content("\n".join(filter(None, (form.get("Body", ""), form.get("MediaUrl", "")))))


def whatsapp_content(body: Json, *, files: Mapping[str, str]) -> Content:
    """The content of a message of any type. `files` are the names of uploaded files by their id."""
    part: Json = body.get(body["type"], {})
    if body["type"] == "template":
        return Content(f"[{part['name']}]")
    if body["type"] != "interactive":
        text = part.get("body") or part.get("caption") or part.get("filename") or files.get(part.get("id", ""), "")
        return Content(text)
    action = part["action"]
    replies = [one["reply"] for one in action.get("buttons", [])]
    rows = [row for section in action.get("sections", []) for row in section["rows"]]
    buttons = tuple({"id": one["id"], "label": one["title"]} for one in (*replies, *rows))
    return Content(part["body"]["text"], buttons)
