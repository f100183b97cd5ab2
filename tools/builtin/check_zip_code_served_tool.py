"""check_zip_code_served_tool: checks an area (N29)."""

from __future__ import annotations

from tools.builtin.base import BuiltinTool, Delivery, define, switched_on_by

TOOL = BuiltinTool(
    name="check_zip_code_served_tool",
    kind="zip_code",
    delivery=Delivery.IDEMPOTENT,
    gate=switched_on_by("project_attributes_setting_products_and_services_background_check_location_enabled"),
    definition=define(
        "Checks whether a zip code or area is served.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to check whether a zip code, address or area is served now.",
        },
    ),
)
