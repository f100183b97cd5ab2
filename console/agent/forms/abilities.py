"""What the agent may do itself: the kind of business, its tools, when it brings people in, and whom it believes (W01, F09)."""

from __future__ import annotations

from typing import Any

from console.agent.form_fields import Boxes
from console.agent.forms.rows import RowsForm
from console.agent.nested_form_data import Node, part_of, text_of
from projects.common.verticals import VERTICALS

ALL, CHOSEN = "all", "chosen"
ACTIONS = (("transfer", "Put the call through"), ("message", "Text them"))
LEVELS = (
    ("none", "Never asked"),
    ("basic", "The number or e-mail on file; on the phone without asking"),
    ("code", "A one-time code, by text or e-mail"),
)
rules = RowsForm("escalation_rules", ("when", "action"))


def read(entries: Node) -> dict[str, Any]:
    chosen = list(part_of(entries, "enabled_tools"))
    return {
        "vertical": text_of(entries, "vertical"),
        "enabled_tools": chosen if text_of(entries, "which_tools") == CHOSEN else None,
        "caller_verification": text_of(entries, "caller_verification"),
        **rules.read(entries),
    }


def show(document: dict[str, Any], boxes: Boxes) -> dict[str, Any]:
    return {
        "vertical": boxes.box("vertical", document["vertical"]),
        "verticals": list(VERTICALS.values()),
        "is_chosen": document["enabled_tools"] is not None,
        "enabled": document["enabled_tools"],
        "tools_error": boxes.error("enabled_tools"),
        "caller_verification": boxes.box("caller_verification", document["caller_verification"]),
        "levels": LEVELS,
        "actions": ACTIONS,
        **rules.show(document, boxes),
    }
