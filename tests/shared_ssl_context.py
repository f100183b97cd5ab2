"""One SSL context per process. Loading the trusted authorities takes 25 ms, and each test creates HTTP clients."""

from __future__ import annotations

from functools import cache

import httpcore2


def share_authorities() -> None:
    """Cache the default context. A client that trusts another authority creates its own."""
    httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)  # type: ignore[assignment]
    httpcore2.default_ssl_context(_trust_env=False)
