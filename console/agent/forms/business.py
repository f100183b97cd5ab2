"""Business: agent and business names, kind, context, style."""

from __future__ import annotations

from typing import Any

from console.agent.form_fields import FormFields
from console.agent.nested_form_data import Node, text_of
from projects.common.verticals import VERTICALS

FIELDS = ("agent_name", "business_name", "vertical", "business_context", "style")
KINDS = [(kind.name, kind.title) for kind in VERTICALS.values()]


def read(entries: Node) -> dict[str, Any]:
    return {name: text_of(entries, name) for name in FIELDS}


def show(document: dict[str, Any], fields: FormFields) -> dict[str, Any]:
    return {name: fields.field(name, document.get(name, "")) for name in FIELDS} | {"verticals": KINDS}
