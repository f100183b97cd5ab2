"""Escalation: rules, caller verification."""

from __future__ import annotations

from typing import Any

from console.agent.form_fields import FormFields
from console.agent.forms.rows import RowsForm
from console.agent.nested_form_data import Node, text_of
from projects.common.translation import lazy

ACTIONS = (("transfer", lazy("Transfer the call")), ("message", lazy("Send a text")))
LEVELS = (
    ("none", lazy("No verification")),
    ("basic", lazy("Phone number or e-mail on file (automatic on calls)")),
    ("code", lazy("One-time code by text or e-mail")),
)
rules = RowsForm("escalation_rules", ("when", "action"))


def read(entries: Node) -> dict[str, Any]:
    return {"caller_verification": text_of(entries, "caller_verification"), **rules.read(entries)}


def show(document: dict[str, Any], fields: FormFields) -> dict[str, Any]:
    return {
        "caller_verification": fields.field("caller_verification", document["caller_verification"]),
        "levels": LEVELS,
        "actions": ACTIONS,
        **rules.show(document, fields),
    }
