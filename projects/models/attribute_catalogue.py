"""The attributes that the product defines. Projects may store others as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from projects.common.translation import lazy, plazy
from projects.models.attribute import AttributeType

SETTING = "project_attributes_setting_"
# Attributes written by the product itself: listed if they are set, but not offered for editing.
INTERNAL_ATTRIBUTES = {
    "first_steps_hidden": lazy("Onboarding is hidden"),
    "opening_hours_confirmed": lazy("The opening hours were confirmed"),
}


@dataclass(frozen=True)
class KnownSetting:
    """A defined attribute, and the built-in tools that it enables."""

    key: str
    label: str
    tools: tuple[str, ...]
    type: AttributeType = AttributeType.BOOL


KNOWN_SETTINGS = (
    KnownSetting(
        f"{SETTING}booking_check_availability_enabled", lazy("Check availability"), ("check_availability_tool",)
    ),
    KnownSetting(
        f"{SETTING}booking_enabled", lazy("Make and find bookings"), ("create_booking_tool", "search_booking_tool")
    ),
    KnownSetting(f"{SETTING}booking_cancellation_enabled", lazy("Cancel bookings"), ("cancel_booking_tool",)),
    KnownSetting(
        f"{SETTING}booking_cancellation_type",
        lazy("How bookings are canceled"),
        ("cancel_booking_tool",),
        type=AttributeType.ENUM,
    ),
    KnownSetting(
        f"{SETTING}booking_manage_url_enabled",
        lazy("Send a link to manage a booking"),
        ("send_manage_booking_url_tool",),
    ),
    KnownSetting(f"{SETTING}sms_send_information_enabled", lazy("Send texts"), ("send_sms_tool",)),
    KnownSetting(
        f"{SETTING}sms_allowed_countries",
        lazy("Countries that can receive texts, such as IT, DE or ALL (your own if empty)"),
        ("send_sms_tool", "send_manage_booking_url_tool"),
        type=AttributeType.STRING,
    ),
    KnownSetting(f"{SETTING}email_send_information_enabled", lazy("Send e-mails"), ("send_email_tool",)),
    KnownSetting(f"{SETTING}transfer_call_enabled", lazy("Transfer calls to a person"), ("transfer_call_tool",)),
    KnownSetting(
        f"{SETTING}transfer_numbers",
        lazy("Transfer numbers, such as kitchen: +39 06 …"),
        ("transfer_call_tool",),
        type=AttributeType.STRING,
    ),
    KnownSetting(
        f"{SETTING}calendar_event_integration",
        lazy("Calendar for meetings"),
        ("create_meeting_tool",),
        type=AttributeType.ENUM,
    ),
    KnownSetting(
        f"{SETTING}products_and_services_background_check_location_enabled",
        lazy("Check ZIP codes"),
        ("check_zip_code_served_tool",),
    ),
    KnownSetting(
        f"{SETTING}products_and_services_background_check_availability_enabled",
        lazy("Check whether products and services are available"),
        ("check_product_or_service_availability",),
    ),
)

# How the agent speaks in calls. Labels by key, as the attributes page lists them.
VOICE_SETTINGS: Mapping[str, str] = {
    f"{SETTING}voice_model": "Realtime model, like gpt-realtime (the provider's default if empty)",
    f"{SETTING}voice_name": "Voice in calls, like marin or cedar (the provider's default if empty)",
    f"{SETTING}voice_speed": "Speed of speech, from 0.25 to 1.5 (1 if empty)",
    f"{SETTING}voice_language": "Language of calls, like it or en (the caller's if empty)",
    f"{SETTING}voice_greeting": "First words of a call (the widget's greeting if empty)",
    f"{SETTING}voice_noise_reduction": "Noise reduction: near_field, far_field or off (near_field if empty)",
    f"{SETTING}voice_turn_detection": "Turn detection: semantic_vad or server_vad (semantic_vad if empty)",
    f"{SETTING}voice_fallback_number": "Number for calls that the agent doesn't take",
}

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
# Settings of how long records are kept, by the kind of record.
RETENTION_SETTINGS: Mapping[str, str] = {
    "transcripts": f"{SETTING}retention_transcripts_days",
    "archive": f"{SETTING}retention_archive_days",
    "events": f"{SETTING}retention_events_days",
    "prompts": f"{SETTING}retention_prompts_days",
    "effects": f"{SETTING}retention_effects_days",
    "jobs": f"{SETTING}retention_jobs_days",
}
MODEL_COST_LIMIT, MODEL_TOKEN_LIMIT = f"{SETTING}model_daily_cost_limit", f"{SETTING}model_daily_token_limit"
MONTH_COST_LIMIT, MONTH_TOKEN_LIMIT = f"{SETTING}model_monthly_cost_limit", f"{SETTING}model_monthly_token_limit"
TURN_LIMIT, STORAGE_LIMIT = f"{SETTING}turn_limit", f"{SETTING}storage_limit"
OPEN_LIMIT = f"{SETTING}open_conversation_limit"
# Labels by key, as the attributes page lists them.
LIMIT_SETTINGS: Mapping[str, str] = {
    f"{SETTING}sms_daily_limit": lazy("Texts per day (200 if empty)"),
    f"{SETTING}sms_recipient_limit": lazy("Texts to one number per day (20 if empty)"),
    f"{SETTING}sms_visitor_limit": lazy("Texts to numbers of anonymous visitors in ten minutes (10 if empty)"),
    f"{SETTING}email_daily_limit": lazy("E-mails per day (500 if empty)"),
    f"{SETTING}email_recipient_limit": lazy("E-mails to one address per day (20 if empty)"),
    f"{SETTING}email_visitor_limit": lazy("E-mails to addresses of anonymous visitors in ten minutes (20 if empty)"),
    f"{SETTING}code_daily_limit": lazy("Verification codes per day (200 if empty)"),
    MODEL_COST_LIMIT: lazy("Model cost per day in USD (100 if empty)"),
    MODEL_TOKEN_LIMIT: lazy("Model tokens per day, for models without a price (50 million if empty)"),
    MONTH_COST_LIMIT: lazy("Model cost per month in USD (no limit if empty)"),
    MONTH_TOKEN_LIMIT: lazy("Model tokens per month, for models without a price (no limit if empty)"),
    TURN_LIMIT: lazy("Turns per minute (no limit if empty)"),
    STORAGE_LIMIT: lazy("Storage in MB (no limit if empty)"),
    OPEN_LIMIT: lazy("Open conversations (no limit if empty)"),
}


def attribute_label(key: str) -> str:
    """The name of an attribute that the product defines; the key of another one."""
    known = {setting.key: setting.label for setting in KNOWN_SETTINGS}
    return str({**INTERNAL_ATTRIBUTES, **LIMIT_SETTINGS, **VOICE_SETTINGS, **known}.get(key, key))


# The values of attributes that are one of several.
VALUE_LABELS = {
    "endpoint": lazy("By your own endpoint"),
    "project": lazy("In this project’s bookings"),
    "manual": lazy("By a person"),
    "none": plazy("calendar", "None"),
    "google_integration": "Google Calendar",
    "caldav_integration": "CalDAV",
}


def value_label(value: str) -> str:
    """The name of a value that the product defines; the value itself otherwise."""
    return str(VALUE_LABELS.get(value, value))
