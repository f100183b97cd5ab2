"""E-mails in MIME format."""

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

from projects.connections.settings.smtp import SmtpSettings
from tools.services.messaging.base import Email, EmailFile, EmailReply
from tools.services.messaging.bounce_proof import PROOF_HEADER, bounce_proof

# Characters that headers can't contain: control characters and line ends. No-break spaces and joiners are allowed.
NOT_ALLOWED = frozenset({"Cc", "Cs", "Zl", "Zp"})
CRLF = "\r\n"
THREAD_HEADERS = ("In-Reply-To", "References")


class MessageRefused(ValueError):
    """The e-mail can't be written as given."""


class _SevenBitPolicy(EmailPolicy):
    """A 7-bit policy, because every server accepts it. Long non-ASCII subjects are split between characters, as RFC
    2047 requires; the library's own folding loses spaces between words.
    """

    def fold_binary(self, name: str, value: str) -> bytes:
        if name in THREAD_HEADERS:
            # The library would encode a Message-ID that is longer than a line.
            return f"{name}: {f'{CRLF} '.join(str(value).split())}{CRLF}".encode("ascii")
        # Addresses and the names of files have forms of their own, which the library writes.
        if value.isascii() or hasattr(value, "addresses") or hasattr(value, "params"):
            return super().fold_binary(name, value)
        return f"{name}: {Header(str(value), 'utf-8', header_name=name).encode(linesep=CRLF)}{CRLF}".encode("ascii")


POLICY = _SevenBitPolicy(linesep=CRLF, cte_type="7bit", max_line_length=78)


@dataclass(frozen=True)
class MimeMessage:
    """A rendered e-mail: envelope, content with CRLF, and the fields that the ledger shows."""

    sender: str
    recipient: str
    message_id: str
    content: bytes
    ledger_fields: dict[str, Any]


def build_message(message: Email, settings: SmtpSettings, *, key: str) -> MimeMessage:
    """Render the e-mail. Its Message-ID is the effect's key, the same for every attempt. Raises MessageRefused."""
    sender, recipient = _ascii_address(settings.from_address), _ascii_address(message.to)
    for field, text in (("subject", message.subject), ("recipient's name", message.name)):
        if any(category(one) in NOT_ALLOWED for one in text):
            raise MessageRefused(f"The {field} holds a line break or a control character, which an e-mail can't carry.")
    email = EmailMessage(policy=POLICY)
    email["From"] = Address(settings.from_name, addr_spec=sender)
    email["To"] = Address(message.name, addr_spec=recipient)
    email["Subject"] = message.subject
    email["Date"] = format_datetime(datetime.now(UTC))
    email["Message-ID"] = message_id = f"<{key}@{sender.rpartition('@')[2]}>"
    email[PROOF_HEADER] = bounce_proof(key)
    if isinstance(message, EmailReply):
        _put_in_thread(email, message)
    else:
        # Suppresses automatic replies (RFC 3834).
        email["Auto-Submitted"] = "auto-generated"
    email.set_content(message.body)
    files = message.files if isinstance(message, EmailReply) else ()
    for file in files:
        _attach(email, file)
    ledger_fields = {
        "from": sender,
        "to": recipient,
        "subject": message.subject,
        "body": message.body,
        "message_id": message_id,
        **({"files": [file.name for file in files]} if files else {}),
    }
    return MimeMessage(sender, recipient, message_id, email.as_bytes(), ledger_fields)


def _attach(email: EmailMessage, file: EmailFile) -> None:
    main, _, sub = file.content_type.partition("/")
    params = {"charset": "utf-8"} if main == "text" else None
    email.add_attachment(file.content, maintype=main, subtype=sub, filename=file.name, params=params)


def _put_in_thread(email: EmailMessage, message: EmailReply) -> None:
    if any(not one.isascii() or not one.isprintable() or " " in one for one in message.references):
        raise MessageRefused("The references hold what is no Message-ID.")
    if message.references:
        email["In-Reply-To"] = message.references[-1]
        email["References"] = " ".join(message.references)
    if message.reply_to:
        email["Reply-To"] = Address(addr_spec=_ascii_address(message.reply_to))
    if message.is_automatic:
        email["Auto-Submitted"] = "auto-replied"


def _ascii_address(address: str) -> str:
    """Return the address with an ASCII domain. Raises MessageRefused."""
    user, _, domain = address.strip().rpartition("@")
    try:
        ascii_address = f"{user}@{idna.encode(domain, uts46=True).decode('ascii')}"
        validate_email(ascii_address)
    except (ValidationError, idna.IDNAError) as error:
        raise MessageRefused(f"{address[:100]!r} is not a valid e-mail address; ask for it again.") from error
    return ascii_address
