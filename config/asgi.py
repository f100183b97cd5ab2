"""The ASGI application: Django behind the body limit, with a short way for the API."""

from __future__ import annotations

import os
import warnings
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.handlers.asgi import ASGIHandler

from config.memory import settle
from projects.api.body_limit import BodyLimit

API, DOCS = "/api/v1/", "/api/v1/docs/"

# WhiteNoise reads files synchronously; Django serves them from a thread, and would say so at every start.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")


class ApiHandler(ASGIHandler):
    """Django with the middleware that an API call needs, and none of those that cost it a change of thread each."""

    def load_middleware(self, is_async: bool = False) -> None:
        whole, settings.MIDDLEWARE = settings.MIDDLEWARE, settings.API_MIDDLEWARE
        try:
            super().load_middleware(is_async)
        finally:
            settings.MIDDLEWARE = whole


_pages: Any = get_asgi_application()
_api: Any = ApiHandler()


async def _serve(scope: dict[str, Any], receive: Any, send: Any) -> None:
    path = scope.get("path", "")
    serve = _api if path.startswith(API) and not path.startswith(DOCS) else _pages
    await serve(scope, receive, send)


settle()
application = BodyLimit(_serve)  # type: ignore[arg-type]  # ASGI's shapes are looser than their types
