"""The attributes that the product defines. Projects may store others as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from projects.models.attribute import AttributeType

SETTING = "project_attributes_setting_"
# Attributes written by the product itself: listed if they are set, but not offered for editing.
INTERNAL_ATTRIBUTES = {
    "first_steps_hidden": "Onboarding is hidden",
    "opening_hours_confirmed": "The opening hours were confirmed",
}


@dataclass(frozen=True)
class KnownSetting:
    """A defined attribute, and the built-in tools that it enables."""

    key: str
    label: str
    tools: tuple[str, ...]
    type: AttributeType = AttributeType.BOOL


KNOWN_SETTINGS = (
    KnownSetting(f"{SETTING}booking_check_availability_enabled", "Check availability", ("check_availability_tool",)),
    KnownSetting(f"{SETTING}booking_enabled", "Make and find bookings", ("create_booking_tool", "search_booking_tool")),
    KnownSetting(f"{SETTING}booking_cancellation_enabled", "Cancel bookings", ("cancel_booking_tool",)),
    KnownSetting(
        f"{SETTING}booking_cancellation_type",
        "How bookings are cancelled",
        ("cancel_booking_tool",),
        type=AttributeType.ENUM,
    ),
    KnownSetting(
        f"{SETTING}booking_manage_url_enabled", "Send a link to manage a booking", ("send_manage_booking_url_tool",)
    ),
    KnownSetting(f"{SETTING}sms_send_information_enabled", "Send texts", ("send_sms_tool",)),
    KnownSetting(
        f"{SETTING}sms_allowed_countries",
        "Countries that texts may go to, like IT, DE, or ALL (your own if empty)",
        ("send_sms_tool", "send_manage_booking_url_tool"),
        type=AttributeType.STRING,
    ),
    KnownSetting(f"{SETTING}email_send_information_enabled", "Send e-mails", ("send_email_tool",)),
    KnownSetting(f"{SETTING}transfer_call_enabled", "Transfer calls to a person", ("transfer_call_tool",)),
    KnownSetting(
        f"{SETTING}transfer_numbers",
        "Transfer numbers, like kitchen: +39 06 …",
        ("transfer_call_tool",),
        type=AttributeType.STRING,
    ),
    KnownSetting(
        f"{SETTING}calendar_event_integration",
        "Calendar for meetings",
        ("create_meeting_tool",),
        type=AttributeType.ENUM,
    ),
    KnownSetting(
        f"{SETTING}products_and_services_background_check_location_enabled",
        "Check whether a ZIP code is served",
        ("check_zip_code_served_tool",),
    ),
    KnownSetting(
        f"{SETTING}products_and_services_background_check_availability_enabled",
        "Check whether a product or service is available",
        ("check_product_or_service_availability",),
    ),
)

# Settings that replace a kind's limits, by kind and field of its policy.
KIND_LIMITS: Mapping[tuple[str, str], str] = {
    ("sms", "max_per_project"): f"{SETTING}sms_daily_limit",
    ("sms", "max_per_recipient"): f"{SETTING}sms_recipient_limit",
    ("sms", "max_from_visitors"): f"{SETTING}sms_visitor_limit",
    ("email", "max_per_project"): f"{SETTING}email_daily_limit",
    ("email", "max_per_recipient"): f"{SETTING}email_recipient_limit",
    ("email", "max_from_visitors"): f"{SETTING}email_visitor_limit",
    ("verification_code", "max_per_project"): f"{SETTING}code_daily_limit",
}
MODEL_COST_LIMIT, MODEL_TOKEN_LIMIT = f"{SETTING}model_daily_cost_limit", f"{SETTING}model_daily_token_limit"
# Labels by key, as the attributes page lists them.
LIMIT_SETTINGS: Mapping[str, str] = {
    f"{SETTING}sms_daily_limit": "Texts per day (200 if empty)",
    f"{SETTING}sms_recipient_limit": "Texts to one number per day (20 if empty)",
    f"{SETTING}sms_visitor_limit": "Texts to numbers of anonymous visitors in ten minutes (10 if empty)",
    f"{SETTING}email_daily_limit": "E-mails per day (500 if empty)",
    f"{SETTING}email_recipient_limit": "E-mails to one address per day (20 if empty)",
    f"{SETTING}email_visitor_limit": "E-mails to addresses of anonymous visitors in ten minutes (20 if empty)",
    f"{SETTING}code_daily_limit": "Verification codes per day (200 if empty)",
    MODEL_COST_LIMIT: "Model cost per day in USD (100 if empty)",
    MODEL_TOKEN_LIMIT: "Model tokens per day, for models without a price (50 million if empty)",
}
