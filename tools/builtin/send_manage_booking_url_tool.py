"""send_manage_booking_url_tool: sends the manage-booking link (N32, N41, D13)."""

from __future__ import annotations

from tools.builtin.base import BuiltinTool, Delivery, define, switched_on_by

TOOL = BuiltinTool(
    name="send_manage_booking_url_tool",
    kind="sms",
    delivery=Delivery.ONCE,
    gate=switched_on_by("project_attributes_setting_booking_manage_url_enabled"),
    definition=define(
        "Sends the customer a link to view, change or cancel their existing booking.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to send a link or message for managing an existing booking now.",
        },
        tag="sms",
    ),
)
