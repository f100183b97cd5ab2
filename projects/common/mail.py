"""E-mail that leaves this server: sent after the commit, and never the reason why a request fails."""

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
    """What became of an e-mail."""

    SENT = "sent"
    NO_SERVER = "no_server"
    FAILED = "failed"


def has_server() -> bool:
    """Whether the operator named a mail server."""
    return bool(settings.EMAIL_HOST)


def deliver(message: EmailMessage) -> MailResult:
    """Hand the message to the mail server. Outside a transaction: a slow server must hold no lock. Raises nothing."""
    try:
        message.send()
    except (OSError, SMTPException) as error:
        # The server's words may repeat the message, which may hold a link that opens an account.
        log.warning("An e-mail to %s was not sent: %s", ", ".join(message.to), type(error).__name__)
        return MailResult.FAILED
    return MailResult.SENT if has_server() else MailResult.NO_SERVER


class LogBackend(BaseEmailBackend):
    """What stands in for a mail server while EMAIL_HOST is empty: a log line per message, without what it says."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        for message in email_messages:
            log.warning("Set EMAIL_HOST: “%s” to %s was not sent.", message.subject, ", ".join(message.to))
        return len(email_messages)
