"""The services outside that a project can be connected to, and what each asks for (D24)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self

import phonenumbers
from django.core.exceptions import ValidationError as DjangoValidationError
from django.core.validators import validate_email
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from outbound.guard import Guard

# Where mail servers listen, besides the ports that are open to everything (RFC 8314, RFC 5321).
MAIL_PORTS = frozenset({25, 465, 587})
TWILIO_URL = "https://api.twilio.com"


def without_control_characters(text: str) -> str:
    if not text.isprintable():
        raise ValueError("There is a line break or a control character in it; remove it.")
    return text


def an_address(text: str) -> str:
    try:
        validate_email(text)
    except DjangoValidationError:
        raise ValueError("Write an e-mail address like hello@example.com.") from None
    return text


Line = Annotated[str, Field(max_length=200), AfterValidator(without_control_characters)]
Address = Annotated[str, Field(max_length=254), AfterValidator(an_address)]


class SourceSettings(BaseModel):
    """What is kept of a connection in the open. Every field has a title, and says how it is filled in."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)
    # The setting that names the server.
    address_field: ClassVar[str]

    @property
    def server(self) -> str:
        """Who gets the secret: a stored one is never sent to another."""
        raise NotImplementedError

    def check_server(self, guard: Guard) -> None:
        """The form of the address; no name is looked up. Raises BlockedAddress."""
        raise NotImplementedError


class SmtpSettings(SourceSettings):
    """A mail server that the project's e-mails go out by."""

    address_field = "host"

    host: Line = Field(min_length=1, title="Server", examples=["smtp.example.com"])
    port: int = Field(587, ge=1, le=65535, title="Port", description="587 for STARTTLS, 465 for TLS.")
    security: Literal["starttls", "tls", "none"] = Field(
        "starttls",
        title="Security",
        json_schema_extra={"starttls": "STARTTLS", "tls": "TLS from the start", "none": "None: anyone can read along"},
    )
    user: Line = Field("", title="User", description="Empty for a server that asks for none.")
    from_address: Address = Field(title="From", examples=["hello@example.com"])
    from_name: Line = Field("", title="From name", description="As the customer sees it.")

    @model_validator(mode="after")
    def no_password_in_the_open(self) -> Self:
        if self.security == "none" and self.user:
            raise ValueError("A password is only sent over TLS: choose STARTTLS or TLS, or leave the user empty.")
        return self

    @property
    def server(self) -> str:
        return f"{self.host.lower()}:{self.port}"

    def check_server(self, guard: Guard) -> None:
        guard.check_server(self.host, self.port, ports=MAIL_PORTS)


class TwilioSettings(SourceSettings):
    """A Twilio account that the project's text messages go out by."""

    address_field = "base_url"

    account_sid: Line = Field(title="Account SID", examples=["AC0123456789abcdef0123456789abcdef"])
    sender: Line = Field(
        title="From",
        description="A number of yours in full, a sender name, or a messaging service’s SID (MG…).",
        examples=["+14155550100"],
    )
    base_url: Line = Field(TWILIO_URL, title="Address of the API", description="Another one for a region or a proxy.")

    @field_validator("account_sid")
    @classmethod
    def a_sid(cls, value: str) -> str:
        if not re.fullmatch(r"AC[0-9a-fA-F]{32}", value):
            raise ValueError(
                "An account SID is AC and 32 digits or letters from a to f; copy it from Twilio’s console."
            )
        return value

    @field_validator("sender")
    @classmethod
    def a_sender(cls, value: str) -> str:
        is_name = re.fullmatch(r"[A-Za-z0-9 ]{1,11}", value) and any(letter.isalpha() for letter in value)
        if re.fullmatch(r"MG[0-9a-fA-F]{32}", value) or is_name:
            return value
        try:
            number = phonenumbers.parse(value, None)
        except phonenumbers.NumberParseException:
            raise ValueError("Write a number with its country like +14155550100, or a name of at most 11.") from None
        return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)

    @field_validator("base_url")
    @classmethod
    def without_a_slash(cls, value: str) -> str:
        return value.rstrip("/") or TWILIO_URL

    @property
    def server(self) -> str:
        return self.base_url.lower()

    def check_server(self, guard: Guard) -> None:
        guard.check_url(self.base_url)


@dataclass(frozen=True)
class SourceKind:
    """One kind of connection. `carries` is what goes out by it; `credential` is what its one secret is called."""

    name: str
    title: str
    carries: str
    lead: str
    icon: str
    settings: type[SourceSettings]
    credential: str
    needs_secret: bool = True


KINDS: dict[str, SourceKind] = {
    kind.name: kind
    for kind in (
        SourceKind(
            name="twilio",
            title="Text messages (Twilio)",
            carries="text messages",
            lead="Texts go to the customer’s own number, from yours.",
            icon="message-2",
            settings=TwilioSettings,
            credential="Auth token",
        ),
        SourceKind(
            name="smtp",
            title="E-mail (SMTP)",
            carries="e-mails",
            lead="E-mails go to the customer’s own address, by your mail server.",
            icon="mail",
            settings=SmtpSettings,
            credential="Password",
            needs_secret=False,
        ),
    )
}
