"""One middleware chain for all of Django's test clients. Building it takes 20 ms, most of it WhiteNoise scanning files."""

from __future__ import annotations

from typing import Any

from django.core.handlers.base import BaseHandler
from django.test import client

LOADED = ("_view_middleware", "_template_response_middleware", "_exception_middleware", "_middleware_chain")


def share_middleware() -> None:
    """Let every client of this process use the first chain of its kind, which holds no state of a client."""
    client.ClientHandler = _sharing(client.ClientHandler)  # type: ignore[misc]
    client.AsyncClientHandler = _sharing(client.AsyncClientHandler)  # type: ignore[misc]


def _sharing(kind: type[BaseHandler]) -> type[BaseHandler]:
    first: dict[str, Any] = {}

    class Sharing(kind):  # type: ignore[misc,valid-type]
        def load_middleware(self, is_async: bool = False) -> None:
            if not first:
                super().load_middleware(is_async=is_async)
                first.update({name: getattr(self, name) for name in LOADED})
            vars(self).update(first)

    return Sharing
