"""Example definitions for tests."""

from __future__ import annotations

import copy
import json
from typing import Any

# The specification's example of a registration, unchanged.
REGISTRATION_TEXT = """
{
  "tools": {
    "my_custom_tool": {
      "description": "What this tool does",
      "conditions": {
        "agentPromised": {
          "type": "boolean",
          "description": "The agent explicitly states they will perform this action"
        }
      },
      "useConversationHistory": false,
      "action": {
        "type": "send_webhook",
        "options": {
          "url": "https://api.example.com/action",
          "method": "POST",
          "body": {
            "type": "object",
            "properties": {
              "customer_name": {
                "type": "string",
                "description": "The customer's full name"
              }
            }
          }
        }
      },
      "after_actions": [
        {
          "type": "send_urgent_message",
          "options": {
            "prefix": "Action result"
          }
        }
      ]
    }
  }
}
"""
# The source's own schema of one definition, pasted as it stands there.
SCHEMA_TEXT = """
{
  "tool_name": {
    "description": "What this tool does",
    "conditions": {
      "condition_name": {
        "type": "boolean",
        "description": "When this condition is true"
      }
    },
    "useConversationHistory": true,
    "conflictPolicy": {
      "tag": "conflict_group_tag"
    },
    "action": {
      "type": "send_event",
      "options": {}
    },
    "after_actions": []
  }
}
"""
NAME = "my_custom_tool"
# A webhook as people write one in the editor.
KITCHEN: dict[str, Any] = {
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


def registration() -> dict[str, Any]:
    return json.loads(REGISTRATION_TEXT)


def webhook(**options: Any) -> dict[str, Any]:
    """A webhook tool with other options; None removes one."""
    document = copy.deepcopy(registration()["tools"][NAME])
    merged = {**document["action"]["options"], **options}
    document["action"]["options"] = {name: value for name, value in merged.items() if value is not None}
    return document


def event(**changes: Any) -> dict[str, Any]:
    """A tool that sends its event, with other fields; None removes one."""
    document = {**json.loads(SCHEMA_TEXT)["tool_name"], **changes}
    return {name: value for name, value in document.items() if value is not None}


def with_body(**schema: Any) -> dict[str, Any]:
    """A webhook whose body is an object with the one property `x`."""
    return webhook(body={"type": "object", "properties": {"x": schema}})
