"""The messages of a WhatsApp number, in the form of Meta's Cloud API."""

from __future__ import annotations

from typing import Any

from conversations.channels.provider import OutgoingPart

# Of buttons below a message, and of the rows of a list.
MOST_BUTTONS, LONGEST_BUTTON = 3, 20
MOST_ROWS, LONGEST_ROW, LONGEST_DESCRIPTION = 10, 24, 72


def content_of(part: OutgoingPart) -> dict[str, Any]:
    """The content of a part: a template, a text, or one with buttons."""
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
