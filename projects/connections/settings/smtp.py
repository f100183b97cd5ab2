"""A mail server."""

from __future__ import annotations

from typing import Literal, Self

from django.utils.translation import gettext, gettext_noop
from pydantic import Field, model_validator

from outbound.guard import Guard
from projects.connections.settings.base import Address, Line, Name, SourceSettings

# Ports of mail servers, allowed besides the ports that are open to all requests (RFC 8314, RFC 5321).
MAIL_PORTS = frozenset({25, 465, 587})


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
            raise ValueError(
                gettext("Passwords are sent over TLS only. Choose STARTTLS or TLS, or leave the user empty.")
            )
        return self

    @property
    def server(self) -> str:
        return f"{self.host.lower()}:{self.port}"

    def check_server(self, guard: Guard) -> None:
        guard.check_server(self.host, self.port, ports=MAIL_PORTS)
