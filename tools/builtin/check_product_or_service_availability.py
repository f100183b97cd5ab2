"""check_product_or_service_availability: checks stock (N30, N42)."""

from __future__ import annotations

from tools.builtin.base import BuiltinTool, Delivery, define, switched_on_by

TOOL = BuiltinTool(
    name="check_product_or_service_availability",
    kind="product_availability",
    delivery=Delivery.IDEMPOTENT,
    gate=switched_on_by("project_attributes_setting_products_and_services_background_check_availability_enabled"),
    definition=define(
        "Checks whether a product or service is in stock or on offer.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to check whether a product or service is available or in stock now.",
            "notRelatedToExistingBooking": "The answer is not about viewing, changing or cancelling a booking that exists already.",
        },
        tag="availability",
    ),
)
