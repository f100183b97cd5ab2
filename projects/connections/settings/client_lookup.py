"""An endpoint of the business that identifies callers."""

from __future__ import annotations

from django.utils.translation import gettext, gettext_noop
from pydantic import Field, field_validator

from outbound.guard import Guard
from outbound.headers import NAME as HEADER_NAME
from outbound.headers import RESERVED
from projects.connections.settings.base import Line, SourceSettings, Url, check_private_url


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
            raise ValueError(gettext("Remove the part of the address after #."))
        return value

    @field_validator("header_name")
    @classmethod
    def a_header(cls, value: str) -> str:
        if not HEADER_NAME.fullmatch(value):
            raise ValueError(gettext("Enter a header name like Authorization or X-Api-Key."))
        if value.lower() in RESERVED:
            raise ValueError(gettext("The header %(value)s is reserved. Choose another one.") % {"value": value})
        return value

    @property
    def server(self) -> str:
        return self.url.partition("?")[0].lower()

    def check_server(self, guard: Guard) -> None:
        check_private_url(self.url, guard)
