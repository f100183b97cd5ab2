"""Which headers a tenant may add to a request."""

from __future__ import annotations

import re
from collections.abc import Mapping

from outbound.errors import InvalidRequest

NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]{0,8192}")
# They frame the message or steer the connection, so they are ours
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
    """Raises InvalidRequest (`bad_header`), which names the header and never its value."""
    for name, value in headers.items():
        if not NAME.fullmatch(name):
            raise InvalidRequest(f"{name[:64]!r} is not a valid header name.", reason="bad_header")
        if name.lower() in RESERVED:
            raise InvalidRequest(f"The header {name} is set by the system and can't be changed.", reason="bad_header")
        if not VALUE.fullmatch(value):
            raise InvalidRequest(
                f"The value of the header {name} is too long, or holds a line break, a control character or a letter that is"
                " not a Latin one.",
                reason="bad_header",
            )
