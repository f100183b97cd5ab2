"""send_sms_tool: texts the customer (N25, N39, N41)."""

from __future__ import annotations

from tools.builtin.base import BuiltinTool, Delivery, define, switched_on_by

TOOL = BuiltinTool(
    name="send_sms_tool",
    kind="sms",
    delivery=Delivery.ONCE,
    gate=switched_on_by("project_attributes_setting_sms_send_information_enabled"),
    definition=define(
        "Sends the customer a text message (SMS) with information.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to send a text message or SMS now.",
            "notRelatedToExistingBooking": "The answer is not about viewing, changing or cancelling a booking that exists already.",
        },
        tag="sms",
    ),
)
