"""An e-mail as it goes over the wire."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime
from typing import Any
from unicodedata import category

import idna
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from projects.connections.integration_settings import SmtpSettings
from tools.services.messaging.base import Email

# What no header may hold: control characters and the ends of lines. Spaces that don't break and joiners are words' own.
UNWRITABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
CRLF = "\r\n"


class MessageRefused(ValueError):
    """This letter can't be written as it is."""


class _SevenBits(EmailPolicy):
    """Everything goes out in seven bits: every server takes that. A long subject beyond ASCII is cut between two characters, as
    RFC 2047 has it; the library's own way loses the space where it cuts between two words.
    """

    def fold_binary(self, name: str, value: str) -> bytes:
        if value.isascii() or hasattr(value, "addresses"):
            return super().fold_binary(name, value)
        return f"{name}: {Header(str(value), 'utf-8', header_name=name).encode(linesep=CRLF)}{CRLF}".encode("ascii")


POLICY = _SevenBits(linesep=CRLF, cte_type="7bit", max_line_length=78)


@dataclass(frozen=True)
class MimeMessage:
    """A letter: its envelope, its bytes with CRLF, and what of it the ledger shows."""

    sender: str
    recipient: str
    message_id: str
    content: bytes
    shown: dict[str, Any]


def build_message(message: Email, settings: SmtpSettings, *, key: str) -> MimeMessage:
    """The letter whose Message-ID is the effect's key, the same at every attempt. Raises LetterRefused."""
    sender, recipient = _plain(settings.from_address), _plain(message.to)
    for what, text in (("subject", message.subject), ("recipient's name", message.name)):
        if any(category(one) in UNWRITABLE for one in text):
            raise MessageRefused(f"The {what} holds a line break or a control character, which an e-mail can't carry.")
    letter = EmailMessage(policy=POLICY)
    letter["From"] = Address(settings.from_name, addr_spec=sender)
    letter["To"] = Address(message.name, addr_spec=recipient)
    letter["Subject"] = message.subject
    letter["Date"] = format_datetime(datetime.now(UTC))
    letter["Message-ID"] = message_id = f"<{key}@{sender.rpartition('@')[2]}>"
    # No automatic answer shall answer it (RFC 3834).
    letter["Auto-Submitted"] = "auto-generated"
    letter.set_content(message.body)
    shown = {
        "from": sender,
        "to": recipient,
        "subject": message.subject,
        "body": message.body,
        "message_id": message_id,
    }
    return MimeMessage(sender, recipient, message_id, letter.as_bytes(), shown)


def _plain(address: str) -> str:
    """The address with its domain in ASCII. Raises LetterRefused."""
    user, _, domain = address.strip().rpartition("@")
    try:
        plain = f"{user}@{idna.encode(domain, uts46=True).decode('ascii')}"
        validate_email(plain)
    except (ValidationError, idna.IDNAError) as error:
        raise MessageRefused(
            f"{address[:100]!r} is no e-mail address that can be written to; ask for it again."
        ) from error
    return plain
