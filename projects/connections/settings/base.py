"""The base of the settings of all connections."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal
from unicodedata import category

import phonenumbers
from django.core.exceptions import ValidationError as DjangoValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext, gettext_noop
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from outbound.errors import BlockedAddress
from outbound.guard import Guard
from outbound.target import LONGEST_URL
from projects.common.translation import lazy

NO_CONTROLS = lazy("Remove the line break or control character.")
PLAIN_HTTP = lazy("Use https://. Over http, anyone on the network could read the data.")


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
        raise ValueError(gettext("Enter an e-mail address like hello@example.com.")) from None
    return text


def in_e164(text: str) -> str:
    """The number in E.164. Raises NumberParseException without a country code."""
    return phonenumbers.format_number(phonenumbers.parse(text, None), phonenumbers.PhoneNumberFormat.E164)


def own_number(text: str) -> str:
    """The business's number in E.164, or an empty text. Raises ValueError."""
    try:
        return in_e164(text) if text else ""
    except phonenumbers.NumberParseException:
        raise ValueError(gettext("Enter the number with its country code, like +14155550100.")) from None


Line = Annotated[str, Field(max_length=200), AfterValidator(without_control_characters)]
Name = Annotated[str, Field(max_length=200), AfterValidator(on_one_line)]
Address = Annotated[str, Field(max_length=254), AfterValidator(an_address)]
Url = Annotated[str, Field(min_length=1, max_length=LONGEST_URL), AfterValidator(without_control_characters)]
OwnNumber = Annotated[Line, AfterValidator(own_number)]
OutsideHours = Annotated[
    Literal["answer", "fallback"],
    Field(
        json_schema_extra={
            "answer": gettext_noop("The agent answers"),
            "fallback": gettext_noop("Calls go to the fallback number"),
        }
    ),
]
ReceiptHours = Annotated[
    int,
    Field(
        ge=1,
        le=168,
        title=gettext_noop("Hours to wait for a receipt"),
        description=gettext_noop("If no receipt says by then that a message arrived, its outcome is unknown."),
    ),
]


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


def check_private_url(url: str, guard: Guard) -> None:
    """Check a URL that receives a secret or customer data: https, or a host that the operator allowed.

    Raises BlockedAddress.
    """
    target = guard.check_url(url)
    if target.scheme != "https" and not guard.is_opened(target):
        raise BlockedAddress(PLAIN_HTTP, reason="bad_scheme")
