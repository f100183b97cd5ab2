"""A WhatsApp number at Meta’s Cloud API."""

from __future__ import annotations

import re
from datetime import timedelta

from django.utils.translation import gettext, gettext_noop
from pydantic import Field, field_validator

from projects.connections.settings.base import Line, ProviderSettings, ReceiptHours

GRAPH_URL = "https://graph.facebook.com/v23.0"


class WhatsAppSettings(ProviderSettings):
    """A WhatsApp number at Meta's Cloud API."""

    default_url = GRAPH_URL

    phone_number_id: Line = Field(
        title=gettext_noop("Phone number ID"),
        description=gettext_noop("From Meta’s app dashboard, under WhatsApp → API Setup. It is not the number itself."),
        examples=["106540352242922"],
    )
    business_account_id: Line = Field(
        "",
        title=gettext_noop("Business account ID"),
        description=gettext_noop(
            "Optional. From the same place; it lists your templates, which may be sent after 24 hours."
        ),
        examples=["102290129340398"],
    )
    receipt_hours: ReceiptHours = 24
    base_url: Line = Field(
        GRAPH_URL, title=gettext_noop("API address"), description=gettext_noop("Change it for a proxy.")
    )

    @property
    def receipts_within(self) -> timedelta:
        return timedelta(hours=self.receipt_hours)

    @field_validator("phone_number_id")
    @classmethod
    def digits(cls, value: str) -> str:
        if not re.fullmatch(r"[0-9]{1,30}", value):
            raise ValueError(gettext("A phone number ID consists of digits. Copy it from Meta’s app dashboard."))
        return value

    @field_validator("business_account_id")
    @classmethod
    def digits_or_nothing(cls, value: str) -> str:
        if not re.fullmatch(r"[0-9]{0,30}", value):
            raise ValueError("A business account ID consists of digits. Copy it from Meta’s app dashboard.")
        return value
