"""Validation of the request headers that a tenant may set."""

from __future__ import annotations

import re
from collections.abc import Mapping

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
