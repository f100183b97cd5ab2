"""The messages of a WhatsApp number, in the form of Meta's Cloud API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conversations.channels.provider import OutgoingPart
from conversations.channels.templates import with_file
from conversations.channels.whatsapp_api import ADAPTER, IMAGES, GraphAnswer, GraphApi, read_outcome
from outbound.multipart import UploadedFile
from tools.engine.execution.outcome import Ending, Outcome

# Limits of the buttons below a message, and of the rows of a list.
MOST_BUTTONS, LONGEST_BUTTON = 3, 20
MOST_ROWS, LONGEST_ROW, LONGEST_DESCRIPTION = 10, 24, 72


async def send_part(api: GraphApi, part: OutgoingPart, message: Mapping[str, Any], *, number: str) -> Outcome:
    """Send a part. Its file is uploaded first, and the message has its id."""
    media = ""
    if part.file is not None:
        fields = {"messaging_product": "whatsapp", "type": part.file.content_type}
        file = UploadedFile("file", part.file.name, part.file.content_type, part.file.content)
        uploaded = await api.upload(f"{number}/media", fields, file)
        if not (uploaded.is_ok and uploaded.document.get("id")):
            return _read_upload(uploaded, fields)
        media = str(uploaded.document["id"])
    body = {**message, **content_of(part, media=media)}
    return read_outcome(await api.call("POST", f"{number}/messages", body), body)


def _read_upload(answer: GraphAnswer, sent: Mapping[str, Any]) -> Outcome:
    """The outcome of a failed upload. It reached no customer, so another try is safe."""
    outcome = read_outcome(answer, sent)
    if outcome.ending in (Ending.UNKNOWN, Ending.DONE):
        return Outcome.not_sent("The file couldn’t be uploaded to WhatsApp.", adapter=ADAPTER)
    return outcome


def content_of(part: OutgoingPart, *, media: str = "") -> dict[str, Any]:
    """The content of a part: a template, a file, a text, or one with buttons. `media` is the id of its file."""
    if part.template is not None:
        return {"type": "template", "template": with_file(part.template, media)}
    if part.file is not None:
        kind, name = ("image", {}) if part.file.content_type in IMAGES else ("document", {"filename": part.file.name})
        return {"type": kind, kind: {"id": media, **name}}
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
