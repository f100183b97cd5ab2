"""Log lines: one per record, without secrets."""

from __future__ import annotations

import logging
import re
from copy import copy

MASK = "[redacted]"

# Each keeps what helps to find the thing: a key's prefix, a URL's user, a parameter's name.
_SECRETS = [
    (re.compile(r"\b(mg_[0-9a-f]{8}_)[\w-]+"), rf"\1{MASK}"),
    (re.compile(r"\b(mgi_)[\w-]+"), rf"\1{MASK}"),
    # The links of a new password and of a confirmed address open an account as well.
    (re.compile(r"(/password/reset/key/\w+-|/confirm-email/)(?!set-password)[\w:.-]+"), rf"\1{MASK}"),
    # So does the address at which a tool's result is posted.
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
    """Formats a record and its traceback to a single redacted line.

    What Django calls suspicious comes without its traceback: any stranger can write such a line, as often as they like.
    """

    def format(self, record: logging.LogRecord) -> str:
        if record.name.startswith("django.security."):
            record = copy(record)
            record.exc_info = record.exc_text = None
        return redact(super().format(record)).replace("\r", "\\r").replace("\n", "\\n")
