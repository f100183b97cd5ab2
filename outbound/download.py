"""Downloads of files. Each redirect is checked as the first address is, and credentials stay with their server."""

from __future__ import annotations

import time
from collections.abc import Mapping
from urllib.parse import urljoin

from outbound.errors import BlockedAddress, Unreadable
from outbound.guard import Guard, Response
from outbound.origin import is_same_server

MOST_REDIRECTS = 3
REDIRECTS = frozenset({301, 302, 303, 307, 308})


async def download(
    guard: Guard, url: str, *, max_bytes: int, deadline_s: float, credentials: Mapping[str, str] | None = None
) -> Response:
    """The response of the address, or of the one that at most three redirects lead to.

    The headers `credentials` go to the server of `url` and to no other. Raises OutboundError as `Guard.request` does,
    BlockedAddress for a redirect from https to http, and Unreadable (`redirects`) for a fourth one.
    """
    ends_at, place = time.monotonic() + deadline_s, url
    for _ in range(MOST_REDIRECTS + 1):
        response = await guard.request(
            "GET",
            place,
            headers=credentials if is_same_server(place, url) else None,
            deadline_s=max(ends_at - time.monotonic(), 0.001),
            max_bytes=max_bytes,
        )
        location = response.headers.get("location", "")
        if response.status not in REDIRECTS or not location:
            return response
        place = _follow(place, location)
    raise Unreadable("The address redirects too often.", reason="redirects", status=response.status)


def _follow(place: str, location: str) -> str:
    try:
        following = urljoin(place, location)
    except ValueError:
        raise BlockedAddress("The address redirects to none that is valid.", reason="bad_url") from None
    if place.startswith("https:") and not following.startswith("https:"):
        raise BlockedAddress("The address redirects to one without https.", reason="bad_scheme")
    return following
