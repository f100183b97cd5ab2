"""All routes of the product, read from Django's URL resolver."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver


def routes() -> list[str]:
    """Every URL pattern as written, with the prefixes of its includes."""
    return sorted(set(_walk(get_resolver("config.urls").url_patterns, prefix="")))


def _walk(patterns: list[URLPattern | URLResolver], *, prefix: str) -> Iterator[str]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, prefix=route)
        else:
            yield route
