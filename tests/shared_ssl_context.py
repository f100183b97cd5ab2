"""One list of trusted authorities for all of a process's HTTP clients: reading it takes 25 ms, and each test has clients of its own."""

from __future__ import annotations

from functools import cache

import httpcore2


def share_authorities() -> None:
    """Let every client use the context of the first. None adds to it: who trusts somebody else makes a context of its own."""
    httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)  # type: ignore[assignment]
    httpcore2.default_ssl_context(_trust_env=False)
