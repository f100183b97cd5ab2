"""Tool definitions as JSON text for the editor and the history."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tools.engine.validation.definition import FIELDS

# The draft of a new tool. It is valid and can be saved as it is.
TEMPLATE: Mapping[str, Any] = {
    "description": "Tells the kitchen about an allergy or a diet.",
    "conditions": {
        "agentPromised": {
            "type": "boolean",
            "description": "The agent commits, in this answer, to tell the kitchen now.",
        }
    },
    "useConversationHistory": True,
    "action": {
        "type": "send_webhook",
        "options": {
            "url": "https://example.com/kitchen",
            "method": "POST",
            "body": {
                "type": "object",
                "properties": {"note": {"type": "string", "description": "What the kitchen has to know"}},
                "required": ["note"],
            },
        },
    },
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
    """A definition as JSON, with keys in schema order because the database doesn't preserve their order."""
    return json.dumps(_in_order(definition, FIELDS), ensure_ascii=False, indent=2)


def _in_order(value: Any, names: Sequence[str] = PARTS) -> Any:
    if isinstance(value, list):
        return [_in_order(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    known = [name for name in names if name in value]
    return {name: _in_order(value[name]) for name in [*known, *(name for name in value if name not in known)]}
