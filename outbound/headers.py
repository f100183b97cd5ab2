"""Validation of the request headers that a tenant may set, and reading of those of a response."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from outbound.errors import InvalidRequest

NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]{0,8192}")
# Headers that frame the message or control the connection are set by us
RESERVED = frozenset(
    {
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "upgrade",
        "te",
        "trailer",
        "expect",
        "accept-encoding",
        "proxy-authorization",
        "proxy-connection",
    }
)


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise InvalidRequest (`bad_header`) for a header that can't be sent.

    The message names the header, never its value.
    """
    for name, value in headers.items():
        if not NAME.fullmatch(name):
            raise InvalidRequest(f"{name[:64]!r} is not a valid header name.", reason="bad_header")
        if name.lower() in RESERVED:
            raise InvalidRequest(f"The header {name} is set by the system and can't be changed.", reason="bad_header")
        if not VALUE.fullmatch(value):
            raise InvalidRequest(
                f"The value of the header {name} is too long or contains a line break, a control character or a non-Latin letter.",
                reason="bad_header",
            )


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """The seconds of the header Retry-After, which may also be a date; None if it is missing or neither."""
    text = headers.get("retry-after", "")
    if re.fullmatch(r"\d{1,6}", text.strip(), re.ASCII):
        return float(text)
    try:
        due_at = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if due_at.tzinfo is None:
        # HTTP dates without a zone, or with -0000, are in UTC.
        due_at = due_at.replace(tzinfo=UTC)
    return max(0.0, (due_at - datetime.now(UTC)).total_seconds())
