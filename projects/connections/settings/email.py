"""A mailbox that customers write to."""

from __future__ import annotations

from typing import Literal, Self

from django.utils.translation import gettext_noop
from pydantic import Field, field_validator, model_validator

from outbound.guard import Guard
from projects.connections.settings.base import Address, Line, SourceSettings

LONGEST_ADDRESS = 100
# Ports of IMAP servers, allowed besides the ports that are open to all requests (RFC 9051).
IMAP_PORTS = frozenset({143, 993})


class EmailSettings(SourceSettings):
    """A mailbox that customers write to: a provider posts what arrives, or it is read by IMAP. Answers go out by the
    project's mail server (SMTP).
    """

    address_field = "host"

    provider: Literal["postmark", "mailgun", "imap"] = Field(
        "postmark",
        title=gettext_noop("Provider"),
        json_schema_extra={
            "postmark": "Postmark",
            "mailgun": "Mailgun",
            "imap": gettext_noop("Any mailbox, by IMAP"),
        },
    )
    address: Address = Field(
        title=gettext_noop("Address"),
        description=gettext_noop("The address that customers write to. Answers name it for replies."),
        examples=["support@example.com"],
    )
    host: Line = Field(
        "",
        title=gettext_noop("Server"),
        description=gettext_noop("This and all below for IMAP only."),
        examples=["imap.example.com"],
    )
    port: int = Field(
        993, ge=1, le=65535, title=gettext_noop("Port"), description=gettext_noop("993 for TLS, 143 for STARTTLS.")
    )
    security: Literal["tls", "starttls"] = Field(
        "tls",
        title=gettext_noop("Security"),
        json_schema_extra={"tls": gettext_noop("TLS from the start"), "starttls": "STARTTLS"},
    )
    user: Line = Field("", title=gettext_noop("User"))
    folder: Line = Field("INBOX", min_length=1, title=gettext_noop("Folder"))
    every_minutes: int = Field(
        1,
        ge=1,
        le=60,
        title=gettext_noop("Minutes between two looks"),
        description=gettext_noop("The mailbox is asked for new e-mails this often."),
    )
    trusted_server: Line = Field(
        "",
        title=gettext_noop("Name of its sender check"),
        description=gettext_noop(
            "What Authentication-Results begins with in your e-mails. Without it, no sender’s address is trusted."
        ),
        examples=["mx.example.com"],
    )

    @field_validator("address")
    @classmethod
    def in_lower_case(cls, value: str) -> str:
        if len(value) > LONGEST_ADDRESS:
            raise ValueError(f"Use an address of at most {LONGEST_ADDRESS} characters.")
        return value.lower()

    @field_validator("folder")
    @classmethod
    def in_ascii(cls, value: str) -> str:
        if not value.isascii():
            raise ValueError("Use a folder whose name has no special characters.")
        return value

    @model_validator(mode="after")
    def a_server_to_read(self) -> Self:
        if self.provider == "imap" and not (self.host and self.user):
            raise ValueError("Enter the IMAP server and the user.")
        return self

    @property
    def server(self) -> str:
        return f"{self.host.lower()}:{self.port}" if self.provider == "imap" else self.provider

    def check_server(self, guard: Guard) -> None:
        """Nothing is asked of a provider that posts to us."""
        if self.provider == "imap":
            guard.check_server(self.host, self.port, ports=IMAP_PORTS)
