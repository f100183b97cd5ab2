"""send_email_tool: writes the customer an e-mail (N26)."""

from __future__ import annotations

from tools.builtin.base import BuiltinTool, Delivery, define, switched_on_by

TOOL = BuiltinTool(
    name="send_email_tool",
    kind="email",
    delivery=Delivery.ONCE,
    gate=switched_on_by("project_attributes_setting_email_send_information_enabled"),
    definition=define(
        "Sends the customer an e-mail with information.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to send an e-mail now.",
        },
    ),
)
