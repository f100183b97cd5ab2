"""Settings of integrations: the fields of each type, and the checks of their values."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal, Self
from unicodedata import category

import phonenumbers
from django.core.exceptions import ValidationError as DjangoValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext_noop
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from outbound.errors import BlockedAddress
from outbound.guard import Guard
from outbound.headers import NAME as HEADER_NAME
from outbound.headers import RESERVED
from outbound.target import LONGEST_URL

# Ports of mail servers, allowed besides the ports that are open to all requests (RFC 8314, RFC 5321).
MAIL_PORTS = frozenset({25, 465, 587})
TWILIO_URL = "https://api.twilio.com"
GRAPH_URL = "https://graph.facebook.com/v23.0"
TELEGRAM_URL = "https://api.telegram.org"
OPENAI_URL = "https://api.openai.com/v1"
NO_CONTROLS = "Remove the line break or control character."
PLAIN_HTTP = "Use https://. Over http, anyone on the network could read the data."


def without_control_characters(text: str) -> str:
    if not text.isprintable():
        raise ValueError(NO_CONTROLS)
    return text


def on_one_line(text: str) -> str:
    """Reject line breaks and controls, but not the joiners of Persian and emoji or non-breaking spaces."""
    if any(category(one) in ("Cc", "Cs", "Zl", "Zp") for one in text):
        raise ValueError(NO_CONTROLS)
    return text


def an_address(text: str) -> str:
    try:
        validate_email(text)
    except DjangoValidationError:
        raise ValueError("Enter an e-mail address like hello@example.com.") from None
    return text


def in_e164(text: str) -> str:
    """The number in E.164. Raises NumberParseException without a country code."""
    return phonenumbers.format_number(phonenumbers.parse(text, None), phonenumbers.PhoneNumberFormat.E164)


def own_number(text: str) -> str:
    """The business's number in E.164, or an empty text. Raises ValueError."""
    try:
        return in_e164(text) if text else ""
    except phonenumbers.NumberParseException:
        raise ValueError("Enter the number with its country code, like +14155550100.") from None


Line = Annotated[str, Field(max_length=200), AfterValidator(without_control_characters)]
Name = Annotated[str, Field(max_length=200), AfterValidator(on_one_line)]
Address = Annotated[str, Field(max_length=254), AfterValidator(an_address)]
Url = Annotated[str, Field(min_length=1, max_length=LONGEST_URL), AfterValidator(without_control_characters)]


class SourceSettings(BaseModel):
    """The public settings of a connection. Every field has a title and says how to fill it in."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)
    # The name of the field with the server's address.
    address_field: ClassVar[str]

    @property
    def server(self) -> str:
        """The server that receives the secret; a stored secret is never sent to another one."""
        raise NotImplementedError

    def check_server(self, guard: Guard) -> None:
        """Check the form of the address, without a DNS lookup. Raises BlockedAddress."""
        raise NotImplementedError


class SmtpSettings(SourceSettings):
    """A mail server for the project's outgoing e-mail."""

    address_field = "host"

    host: Line = Field(min_length=1, title=gettext_noop("Server"), examples=["smtp.example.com"])
    port: int = Field(
        587, ge=1, le=65535, title=gettext_noop("Port"), description=gettext_noop("587 for STARTTLS, 465 for TLS.")
    )
    security: Literal["starttls", "tls", "none"] = Field(
        "starttls",
        title=gettext_noop("Security"),
        json_schema_extra={
            "starttls": "STARTTLS",
            "tls": gettext_noop("TLS from the start"),
            "none": gettext_noop("None: not encrypted"),
        },
    )
    user: Line = Field(
        "", title=gettext_noop("User"), description=gettext_noop("Leave empty if the server needs none.")
    )
    from_address: Address = Field(title=gettext_noop("From"), examples=["hello@example.com"])
    from_name: Name = Field("", title=gettext_noop("From name"), description=gettext_noop("Shown to the customer."))

    @model_validator(mode="after")
    def no_password_in_the_open(self) -> Self:
        if self.security == "none" and self.user:
            raise ValueError("Passwords are sent over TLS only. Choose STARTTLS or TLS, or leave the user empty.")
        return self

    @property
    def server(self) -> str:
        return f"{self.host.lower()}:{self.port}"

    def check_server(self, guard: Guard) -> None:
        guard.check_server(self.host, self.port, ports=MAIL_PORTS)


class ProviderSettings(SourceSettings):
    """The settings of a provider's API, whose `base_url` may name another server of the same form."""

    address_field = "base_url"
    default_url: ClassVar[str]

    @field_validator("base_url", check_fields=False)
    @classmethod
    def without_a_slash(cls, value: str) -> str:
        return value.rstrip("/") or cls.default_url

    @property
    def server(self) -> str:
        return str(getattr(self, self.address_field)).lower()

    def check_server(self, guard: Guard) -> None:
        check_private_url(str(getattr(self, self.address_field)), guard)


class TwilioSettings(ProviderSettings):
    """A Twilio account: the project's outgoing text messages, and the calls to its number."""

    default_url = TWILIO_URL

    account_sid: Line = Field(title=gettext_noop("Account SID"), examples=["AC0123456789abcdef0123456789abcdef"])
    number: Line = Field(
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
    outside_hours: Literal["answer", "fallback"] = Field(
        "answer",
        title=gettext_noop("Calls outside of opening hours"),
        json_schema_extra={
            "answer": gettext_noop("The agent answers"),
            "fallback": gettext_noop("Calls go to the fallback number"),
        },
    )
    voice: Line = Field(
        "",
        title=gettext_noop("Voice"),
        description=gettext_noop("Twilio’s name of a voice for calls. Empty: Twilio’s default for the language."),
        examples=["en-US-Journey-O"],
    )
    base_url: Line = Field(
        TWILIO_URL, title=gettext_noop("API address"), description=gettext_noop("Change it for a region or a proxy.")
    )

    @field_validator("account_sid")
    @classmethod
    def a_sid(cls, value: str) -> str:
        if not re.fullmatch(r"AC[0-9a-fA-F]{32}", value):
            raise ValueError("An account SID is AC and 32 hexadecimal digits. Copy it from the Twilio console.")
        return value

    @field_validator("number")
    @classmethod
    def a_number(cls, value: str) -> str:
        return own_number(value)

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
                "Enter a number with its country code like +14155550100, or a name of at most 11 characters."
            ) from None

    @model_validator(mode="after")
    def a_way_to_reach_it(self) -> Self:
        if not self.number and not self.sender:
            raise ValueError("Enter your number, or what texts come from.")
        return self

    @property
    def texts_from(self) -> str:
        """The sender of texts."""
        return self.sender or self.number

    @property
    def called_number(self) -> str:
        """The number that callers dial; empty if it isn't known."""
        return self.number or (self.sender if self.sender.startswith("+") else "")


class WooCommerceSettings(SourceSettings):
    """A WooCommerce shop for order look-ups."""

    address_field = "store_url"

    store_url: Url = Field(
        title=gettext_noop("Shop address"),
        description=gettext_noop("The public address, with https."),
        examples=["https://shop.example.com"],
    )
    consumer_key: Line = Field(
        title=gettext_noop("Consumer key"),
        description=gettext_noop("From WooCommerce → Settings → Advanced → REST API. Read permission is enough."),
        examples=["ck_0123456789abcdef0123456789abcdef01234567"],
    )

    @field_validator("store_url")
    @classmethod
    def an_address_of_a_shop(cls, value: str) -> str:
        if "?" in value or "#" in value:
            raise ValueError("Remove the part of the address after ? or #.")
        return value.rstrip("/").removesuffix("/wp-json").rstrip("/")

    @field_validator("consumer_key")
    @classmethod
    def a_key(cls, value: str) -> str:
        if not re.fullmatch(r"ck_[0-9A-Za-z]{8,120}", value):
            raise ValueError("A consumer key begins with ck_. Copy it from WooCommerce. The secret has its own field.")
        return value

    @property
    def server(self) -> str:
        return self.store_url.lower()

    def check_server(self, guard: Guard) -> None:
        check_private_url(self.store_url, guard)


class ClientLookupSettings(SourceSettings):
    """The business's own endpoint that identifies callers by phone number."""

    address_field = "url"

    url: Url = Field(
        title=gettext_noop("Address"),
        description=gettext_noop(
            "We send a GET request with ?phone= and the caller’s number. The response is text for the agent."
        ),
        examples=["https://crm.example.com/callers"],
    )
    header_name: Line = Field(
        "Authorization",
        title=gettext_noop("Secret header"),
        description=gettext_noop("The secret is sent in this header unchanged."),
    )

    @field_validator("url")
    @classmethod
    def without_a_fragment(cls, value: str) -> str:
        if "#" in value:
            raise ValueError("Remove the part of the address after #.")
        return value

    @field_validator("header_name")
    @classmethod
    def a_header(cls, value: str) -> str:
        if not HEADER_NAME.fullmatch(value):
            raise ValueError("Enter a header name like Authorization or X-Api-Key.")
        if value.lower() in RESERVED:
            raise ValueError(f"The header {value} is reserved. Choose another one.")
        return value

    @property
    def server(self) -> str:
        return self.url.partition("?")[0].lower()

    def check_server(self, guard: Guard) -> None:
        check_private_url(self.url, guard)


class CalDavSettings(SourceSettings):
    """A calendar on a CalDAV server: its busy times are not offered, and bookings are written to it."""

    address_field = "url"

    url: Url = Field(
        title=gettext_noop("Calendar address"),
        description=gettext_noop("The URL of one calendar, not of the server. Copy it from the calendar’s settings."),
        examples=["https://cal.example.com/dav/calendars/anna/work/"],
    )
    user: Line = Field(
        min_length=1,
        title=gettext_noop("User name"),
        description=gettext_noop("An account that can write to the calendar."),
    )

    @field_validator("url")
    @classmethod
    def an_address_of_a_collection(cls, value: str) -> str:
        if "?" in value or "#" in value:
            raise ValueError("Remove the part of the address after ? or #.")
        if value.partition(":")[0].lower() in ("webcal", "webcals") or value.lower().endswith(".ics"):
            raise ValueError("This is a read-only calendar feed. Copy the CalDAV address instead.")
        return f"{value.rstrip('/')}/"

    @field_validator("user")
    @classmethod
    def without_a_colon(cls, value: str) -> str:
        if ":" in value:
            raise ValueError("A user name can’t contain a colon.")
        return value

    @property
    def server(self) -> str:
        return self.url

    def check_server(self, guard: Guard) -> None:
        check_private_url(self.url, guard)


def check_private_url(url: str, guard: Guard) -> None:
    """Check a URL that receives a secret or customer data: https, or a host that the operator allowed.

    Raises BlockedAddress.
    """
    target = guard.check_url(url)
    if target.scheme != "https" and not guard.is_opened(target):
        raise BlockedAddress(PLAIN_HTTP, reason="bad_scheme")


class OpenAiSipSettings(SourceSettings):
    """Phone calls over OpenAI's SIP address, for one number of the business."""

    address_field = "base_url"

    number: Line = Field(
        "",
        title="Your number",
        description="The number that callers dial, with its country code. Empty: every call of your OpenAI project.",
        examples=["+14155550100"],
    )
    openai_project: Line = Field(
        "",
        title="OpenAI project",
        description="Your trunk sends calls to sip:proj_…@sip.openai.com;transport=tls.",
        examples=["proj_0123456789abcdef"],
    )
    outside_hours: Literal["answer", "fallback"] = Field(
        "answer",
        title="Outside of opening hours",
        json_schema_extra={"answer": "The agent answers", "fallback": "Calls go to the fallback number"},
    )
    base_url: Line = Field(OPENAI_URL, title="API address", description="Change it for a proxy.")

    @field_validator("number")
    @classmethod
    def a_number(cls, value: str) -> str:
        return own_number(value)

    @property
    def server(self) -> str:
        return self.base_url.rstrip("/")

    def check_server(self, guard: Guard) -> None:
        check_private_url(self.base_url, guard)


class TelegramSettings(ProviderSettings):
    """A Telegram bot that customers write to."""

    default_url = TELEGRAM_URL

    base_url: Line = Field(
        TELEGRAM_URL,
        title=gettext_noop("API address"),
        description=gettext_noop("Change it for your own Bot API server."),
    )


class WhatsAppSettings(ProviderSettings):
    """A WhatsApp number at Meta's Cloud API."""

    default_url = GRAPH_URL

    phone_number_id: Line = Field(
        title=gettext_noop("Phone number ID"),
        description=gettext_noop("From Meta’s app dashboard, under WhatsApp → API Setup. It is not the number itself."),
        examples=["106540352242922"],
    )
    base_url: Line = Field(
        GRAPH_URL, title=gettext_noop("API address"), description=gettext_noop("Change it for a proxy.")
    )

    @field_validator("phone_number_id")
    @classmethod
    def digits(cls, value: str) -> str:
        if not re.fullmatch(r"[0-9]{1,30}", value):
            raise ValueError("A phone number ID consists of digits. Copy it from Meta’s app dashboard.")
        return value
