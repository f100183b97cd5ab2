"""The services outside that a project can be connected to, and what each asks for (D24)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self
from unicodedata import category

import phonenumbers
from django.core.exceptions import ValidationError as DjangoValidationError
from django.core.validators import validate_email
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from outbound.errors import BlockedAddress
from outbound.guard import Guard
from outbound.headers import NAME as HEADER_NAME
from outbound.headers import RESERVED
from outbound.target import LONGEST_URL

# Where mail servers listen, besides the ports that are open to everything (RFC 8314, RFC 5321).
MAIL_PORTS = frozenset({25, 465, 587})
TWILIO_URL = "https://api.twilio.com"
NO_CONTROLS = "There is a line break or a control character in it; remove it."
PLAIN_HTTP = "Write https://…: over http anybody on the way could read what is sent."


def without_control_characters(text: str) -> str:
    if not text.isprintable():
        raise ValueError(NO_CONTROLS)
    return text


def on_one_line(text: str) -> str:
    """Words for people: the joiners of Persian and of emoji, and spaces that don't break, are their own."""
    if any(category(one) in ("Cc", "Cs", "Zl", "Zp") for one in text):
        raise ValueError(NO_CONTROLS)
    return text


def an_address(text: str) -> str:
    try:
        validate_email(text)
    except DjangoValidationError:
        raise ValueError("Write an e-mail address like hello@example.com.") from None
    return text


Line = Annotated[str, Field(max_length=200), AfterValidator(without_control_characters)]
Name = Annotated[str, Field(max_length=200), AfterValidator(on_one_line)]
Address = Annotated[str, Field(max_length=254), AfterValidator(an_address)]
Url = Annotated[str, Field(min_length=1, max_length=LONGEST_URL), AfterValidator(without_control_characters)]


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
    from_name: Name = Field("", title="From name", description="As the customer sees it.")

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
        check_private_url(self.base_url, guard)


def check_private_url(url: str, guard: Guard) -> None:
    """A URL whose requests carry a secret or a customer's data: over https, or to where the operator's list points.

    Raises BlockedAddress.
    """
    target = guard.check_url(url)
    if target.scheme != "https" and not guard.is_opened(target):
        raise BlockedAddress(PLAIN_HTTP, reason="bad_scheme")


class WooCommerceSettings(SourceSettings):
    """A WooCommerce shop whose orders are looked up (W04, W05)."""

    address_field = "store_url"

    store_url: Url = Field(
        title="Address of the shop",
        description="As customers open it, with https.",
        examples=["https://shop.example.com"],
    )
    consumer_key: Line = Field(
        title="Consumer key",
        description="From WooCommerce → Settings → Advanced → REST API; Read is enough.",
        examples=["ck_0123456789abcdef0123456789abcdef01234567"],
    )

    @field_validator("store_url")
    @classmethod
    def an_address_of_a_shop(cls, value: str) -> str:
        if "?" in value or "#" in value:
            raise ValueError("Write the shop’s address without what follows a ? or a #.")
        return value.rstrip("/").removesuffix("/wp-json").rstrip("/")

    @field_validator("consumer_key")
    @classmethod
    def a_key(cls, value: str) -> str:
        if not re.fullmatch(r"ck_[0-9A-Za-z]{8,120}", value):
            raise ValueError(
                "A consumer key begins with ck_; copy it from WooCommerce. The secret goes in its own field."
            )
        return value

    @property
    def server(self) -> str:
        return self.store_url.lower()

    def check_server(self, guard: Guard) -> None:
        check_private_url(self.store_url, guard)


class ClientLookupSettings(SourceSettings):
    """An endpoint of the business’s own that knows its callers by their numbers (L06, D17)."""

    address_field = "url"

    url: Url = Field(
        title="Address",
        description="It is asked with ?phone= and the caller’s number, and answers with what the agent should know, as text.",
        examples=["https://crm.example.com/callers"],
    )
    header_name: Line = Field(
        "Authorization", title="Header of the secret", description="The secret goes in it just as you write it."
    )

    @field_validator("url")
    @classmethod
    def without_a_fragment(cls, value: str) -> str:
        if "#" in value:
            raise ValueError("Write the address without what follows a #; it is never sent.")
        return value

    @field_validator("header_name")
    @classmethod
    def a_header(cls, value: str) -> str:
        if not HEADER_NAME.fullmatch(value):
            raise ValueError("Write a header’s name like Authorization or X-Api-Key.")
        if value.lower() in RESERVED:
            raise ValueError(f"The header {value} is set by the system; choose another one.")
        return value

    @property
    def server(self) -> str:
        return self.url.partition("?")[0].lower()

    def check_server(self, guard: Guard) -> None:
        check_private_url(self.url, guard)


class CalDavSettings(SourceSettings):
    """A calendar on a CalDAV server: taken times in it are not offered, and bookings are written to it (F07, D24)."""

    address_field = "url"

    url: Url = Field(
        title="Address of the calendar",
        description="Of the one calendar, not of the server: copy it from the calendar’s own settings.",
        examples=["https://cal.example.com/dav/calendars/anna/work/"],
    )
    user: Line = Field(min_length=1, title="User name", description="Of an account that may write to the calendar.")

    @field_validator("url")
    @classmethod
    def an_address_of_a_collection(cls, value: str) -> str:
        if "?" in value or "#" in value:
            raise ValueError("Write the calendar’s address without what follows a ? or a #.")
        if value.partition(":")[0].lower() in ("webcal", "webcals") or value.lower().endswith(".ics"):
            raise ValueError("This is a calendar’s feed, which can only be read. Copy its CalDAV address.")
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


@dataclass(frozen=True)
class SourceKind:
    """One kind of connection. `credential` is what its one secret is called.

    `carries` is what goes out by it, or what comes in where it `is_looked_up`: such a one is asked for something, and sends no
    customer anything. `sample` is what a trial of it asks for, empty for none.
    """

    name: str
    title: str
    carries: str
    lead: str
    icon: str
    settings: type[SourceSettings]
    credential: str
    needs_secret: bool = True
    is_looked_up: bool = False
    sample: str = ""


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
            sample="Your number",
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
            sample="Your e-mail address",
        ),
        SourceKind(
            name="woocommerce_products",
            title="Shop (WooCommerce)",
            carries="orders",
            lead="Customers who are signed in to your shop are told where their orders are.",
            icon="file-text",
            settings=WooCommerceSettings,
            credential="Consumer secret",
            is_looked_up=True,
        ),
        SourceKind(
            name="client_lookup",
            title="Caller look-up",
            carries="callers",
            lead="Your own system tells the agent who is calling, by the caller’s number.",
            icon="phone",
            settings=ClientLookupSettings,
            credential="Secret",
            needs_secret=False,
            is_looked_up=True,
            sample="A phone number",
        ),
        SourceKind(
            name="caldav",
            title="Calendar (CalDAV)",
            carries="taken times",
            lead="What is taken in your calendar is not offered to customers, and each booking appears in it.",
            icon="calendar-time",
            settings=CalDavSettings,
            credential="Password",
            is_looked_up=True,
        ),
    )
}
