"""A calendar on a CalDAV server."""

from __future__ import annotations

from django.utils.translation import gettext, gettext_noop
from pydantic import Field, field_validator

from outbound.guard import Guard
from projects.connections.settings.base import Line, SourceSettings, Url, check_private_url


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
            raise ValueError(gettext("Remove the part of the address after ? or #."))
        if value.partition(":")[0].lower() in ("webcal", "webcals") or value.lower().endswith(".ics"):
            raise ValueError(gettext("This is a read-only calendar feed. Copy the CalDAV address instead."))
        return f"{value.rstrip('/')}/"

    @field_validator("user")
    @classmethod
    def without_a_colon(cls, value: str) -> str:
        if ":" in value:
            raise ValueError(gettext("A user name can’t contain a colon."))
        return value

    @property
    def server(self) -> str:
        return self.url

    def check_server(self, guard: Guard) -> None:
        check_private_url(self.url, guard)
