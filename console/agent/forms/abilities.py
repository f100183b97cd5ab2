"""Abilities: kind of business, tools, escalation rules, caller verification."""

from __future__ import annotations

from typing import Any

from console.agent.form_fields import FormFields
from console.agent.forms.rows import RowsForm
from console.agent.nested_form_data import Node, part_of, text_of
from projects.common.translation import lazy
from projects.common.verticals import VERTICALS

ALL, CHOSEN = "all", "chosen"
ACTIONS = (("transfer", lazy("Transfer the call")), ("message", lazy("Send a text")))
LEVELS = (
    ("none", lazy("No verification")),
    ("basic", lazy("Phone number or e-mail on file (automatic on calls)")),
    ("code", lazy("One-time code by text or e-mail")),
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


def show(document: dict[str, Any], fields: FormFields) -> dict[str, Any]:
    return {
        "vertical": fields.field("vertical", document["vertical"]),
        "verticals": list(VERTICALS.values()),
        "is_chosen": document["enabled_tools"] is not None,
        "enabled": document["enabled_tools"],
        "tools_error": fields.error("enabled_tools"),
        "caller_verification": fields.field("caller_verification", document["caller_verification"]),
        "levels": LEVELS,
        "actions": ACTIONS,
        **rules.show(document, fields),
    }
