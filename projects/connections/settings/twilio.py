"""A Twilio account."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Self

import phonenumbers
from django.utils.translation import gettext, gettext_noop
from pydantic import Field, field_validator, model_validator

from projects.connections.settings.base import Line, OutsideHours, OwnNumber, ProviderSettings, ReceiptHours, in_e164

TWILIO_URL = "https://api.twilio.com"


class TwilioSettings(ProviderSettings):
    """A Twilio account: the project's outgoing text messages, and the calls to its number."""

    default_url = TWILIO_URL

    account_sid: Line = Field(title=gettext_noop("Account SID"), examples=["AC0123456789abcdef0123456789abcdef"])
    number: OwnNumber = Field(
        "",
        title=gettext_noop("Your number"),
        description=gettext_noop("The number that customers call, with country code. Texts come from it, too."),
        examples=["+14155550100"],
    )
    sender: Line = Field(
        "",
        title=gettext_noop("From"),
        description=gettext_noop(
            "Only if texts don’t come from your number: another number, a sender name, or a messaging service SID (MG…)."
        ),
        examples=["+14155550100"],
    )
    outside_hours: OutsideHours = Field("answer", title=gettext_noop("Calls outside of opening hours"))
    voice: Line = Field(
        "",
        title=gettext_noop("Voice"),
        description=gettext_noop("Twilio’s name of a voice for calls. Empty: Twilio’s default for the language."),
        examples=["en-US-Journey-O"],
    )
    receipt_hours: ReceiptHours = 24
    base_url: Line = Field(
        TWILIO_URL, title=gettext_noop("API address"), description=gettext_noop("Change it for a region or a proxy.")
    )

    @field_validator("account_sid")
    @classmethod
    def a_sid(cls, value: str) -> str:
        if not re.fullmatch(r"AC[0-9a-fA-F]{32}", value):
            raise ValueError(
                gettext("An account SID is AC and 32 hexadecimal digits. Copy it from the Twilio console.")
            )
        return value

    @field_validator("sender")
    @classmethod
    def a_sender(cls, value: str) -> str:
        is_name = re.fullmatch(r"[A-Za-z0-9 ]{1,11}", value) and any(letter.isalpha() for letter in value)
        if not value or re.fullmatch(r"MG[0-9a-fA-F]{32}", value) or is_name:
            return value
        try:
            return in_e164(value)
        except phonenumbers.NumberParseException:
            raise ValueError(
                gettext("Enter a number with its country code like +14155550100, or a name of at most 11 characters.")
            ) from None

    @model_validator(mode="after")
    def a_way_to_reach_it(self) -> Self:
        if not self.number and not self.sender:
            raise ValueError(gettext("Enter your number, or what texts come from."))
        return self

    @property
    def receipts_within(self) -> timedelta:
        return timedelta(hours=self.receipt_hours)

    @property
    def texts_from(self) -> str:
        """The sender of texts."""
        return self.sender or self.number

    @property
    def called_number(self) -> str:
        """The number that callers dial; empty if it isn't known."""
        return self.number or (self.sender if self.sender.startswith("+") else "")
