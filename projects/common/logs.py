"""Log formatting: one line per record, with secrets redacted."""

from __future__ import annotations

import logging
import re
from copy import copy

MASK = "[redacted]"

# Each pattern keeps what identifies the secret: a key's prefix, a URL's user, a parameter's name.
_SECRETS = [
    (re.compile(r"\b(mg_[0-9a-f]{8}_)[\w-]+"), rf"\1{MASK}"),
    (re.compile(r"\b(mgi_)[\w-]+"), rf"\1{MASK}"),
    # Password reset and e-mail confirmation links give access to an account.
    (re.compile(r"(/password/reset/key/\w+-|/confirm-email/)(?!set-password)[\w:.-]+"), rf"\1{MASK}"),
    # The URL for posting a tool's result is a credential too.
    (re.compile(r"(/tool-results/)[\w-]+"), rf"\1{MASK}"),
    (re.compile(r"\b(sk-)[\w-]{6,}"), rf"\1{MASK}"),
    (re.compile(r"\b(bearer)(\s+|%20)[^\s'\",]+", re.IGNORECASE), rf"\1 {MASK}"),
    (re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s/:@'\"]*):[^\s/'\"]+@", re.IGNORECASE), rf"\1:{MASK}@"),
    (
        re.compile(
            r"\b((?:[\w-]*_)?(?:password|passwd|secret|token|api_?key))(['\"]?\s*[=:]\s*['\"]?)[^\s&'\",;}]{8,}",
            re.IGNORECASE,
        ),
        rf"\1\2{MASK}",
    ),
]


def redact(text: str) -> str:
    """The text without API keys, bearer tokens and passwords."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


class RedactingFormatter(logging.Formatter):
    """Formats a record and its traceback as one redacted line.

    Django's security warnings are logged without their tracebacks, because any client can trigger them at will.
    """

    def format(self, record: logging.LogRecord) -> str:
        if record.name.startswith("django.security."):
            record = copy(record)
            record.exc_info = record.exc_text = None
        return redact(super().format(record)).replace("\r", "\\r").replace("\n", "\\n")
