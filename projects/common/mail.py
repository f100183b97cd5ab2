"""Outgoing e-mail: sent after the commit, and never a reason for a request to fail."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from enum import StrEnum
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

log = logging.getLogger(__name__)


class MailResult(StrEnum):
    """The outcome of sending an e-mail."""

    SENT = "sent"
    NO_SERVER = "no_server"
    FAILED = "failed"


def has_server() -> bool:
    """True if the operator configured a mail server."""
    return bool(settings.EMAIL_HOST)


def deliver(message: EmailMessage) -> MailResult:
    """Send a message. Call it outside a transaction, because a slow server must not hold locks. Raises nothing."""
    try:
        message.send()
    except (OSError, SMTPException) as error:
        # Only the exception's type: the server's reply may quote the message and its sign-in link.
        log.warning("An e-mail to %d addresses was not sent: %s", len(message.to), type(error).__name__)
        return MailResult.FAILED
    return MailResult.SENT if has_server() else MailResult.NO_SERVER


class LogBackend(BaseEmailBackend):
    """E-mail backend used while EMAIL_HOST is empty: logs that an e-mail was due, without its content."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        for message in email_messages:
            log.warning("Set EMAIL_HOST: an e-mail to %d addresses was not sent.", len(message.to))
        return len(email_messages)
