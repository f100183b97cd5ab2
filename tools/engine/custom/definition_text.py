"""Tool definitions as JSON text for the editor and the history."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tools.engine.validation.definition import FIELDS

# The draft of a new tool. Its empty fields show examples.
EMPTY: Mapping[str, Any] = {
    "description": "",
    "conditions": {"agentPromised": {"type": "boolean", "description": ""}},
    "useConversationHistory": True,
    "action": {"type": "send_webhook", "options": {"url": "", "method": "POST"}},
}
# Display order of keys inside a definition. Keep in sync with static/js/tools/draft.js.
PARTS = (
    "type",
    "description",
    "url",
    "method",
    "query",
    "headers",
    "body",
    "properties",
    "items",
    "required",
    "options",
)


def as_text(definition: Mapping[str, Any]) -> str:
    """A definition as JSON, with its keys in schema order."""
    return json.dumps(ordered(definition), ensure_ascii=False, indent=2)


def ordered(definition: Mapping[str, Any]) -> Any:
    """A definition with its keys in schema order, which the database doesn't preserve."""
    return _in_order(definition, FIELDS)


def _in_order(value: Any, names: Sequence[str] = PARTS) -> Any:
    if isinstance(value, list):
        return [_in_order(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    known = [name for name in names if name in value]
    return {name: _in_order(value[name]) for name in [*known, *(name for name in value if name not in known)]}
