"""Parts of a file, which players of audio and videos ask for (RFC 9110, section 14)."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse

ONE_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")


def in_range(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """The response with the part of its content that the request asks for. Several ranges get the whole, as allowed."""
    response.headers["Accept-Ranges"] = "bytes"
    asked, size = ONE_RANGE.fullmatch(request.headers.get("Range", "")), len(response.content)
    if asked is None or asked[0] == "bytes=-":
        return response
    first, last = _bounds(asked[1], asked[2], size=size)
    if first > last:
        response.status_code, response.content = 416, b""
        response.headers["Content-Range"] = f"bytes */{size}"
        return response
    response.status_code, response.content = 206, response.content[first : last + 1]
    response.headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    return response


def _bounds(first: str, last: str, *, size: int) -> tuple[int, int]:
    """The first and the last byte; without a first one, `last` counts from the end."""
    if not first:
        return max(0, size - int(last)), size - 1
    return int(first), min(int(last), size - 1) if last else size - 1
