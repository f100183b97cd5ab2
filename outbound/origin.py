"""The server of a URL: secrets that were entered for one server are sent to no other."""

from __future__ import annotations

from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL, such as `https://example.com:443`. An unreadable URL is its own origin."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port or DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return url
    return f"{parts.scheme}://{(parts.hostname or '').rstrip('.')}:{port}" if parts.hostname else url


def is_same_server(one: str, other: str) -> bool:
    """True if both URLs have the same scheme, host and port."""
    return origin_of(one) == origin_of(other)
