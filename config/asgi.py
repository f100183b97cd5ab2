"""The ASGI application: trusted proxies, the body limit, a fast path for the API, and Django for everything else."""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
from contextlib import closing, suppress
from inspect import iscoroutinefunction
from io import BytesIO
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse
from django.urls import set_script_prefix
from django.utils.module_loading import import_string

from config.memory import settle
from config.telemetry import begin_telemetry, end_telemetry, metrics_page
from config.trusted_proxies import TrustedProxies
from projects.api.body_limit import BodyLimit
from telemetry.sampling import watch_loop
from tenancy.threads import in_db

API, DOCS, WIDGET, HOOKS = "/api/v1/", "/api/v1/docs/", "/widget/", "/hooks/"
# The WebSockets of phone calls.
CALLS = "/hooks/twilio/relay/"
# Answered for any Host, because probes use the address of the machine.
PROBES = frozenset({"/healthz", "/livez"})
METRICS = "/metrics"

# WhiteNoise reads files synchronously, and Django serves them from a thread. Without the filter it warns at every
# start.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")


class ApiHandler(ASGIHandler):
    """Django's handler with the given middleware only, running in our own database threads.

    Django runs the synchronous views, signals and response ends of each request in a thread of its own. A few hundred
    concurrent requests would need as many threads, and more database connections than there are. Here they share the
    threads of `in_db`.
    """

    def __init__(self, middleware: list[str]) -> None:
        self._names = middleware
        super().__init__()

    def load_middleware(self, is_async: bool = False) -> None:
        whole, settings.MIDDLEWARE = settings.MIDDLEWARE, self._names
        try:
            super().load_middleware(is_async)
        finally:
            settings.MIDDLEWARE = whole

    def make_view_atomic(self, view: Any) -> Any:
        """The last step by which Django wraps a view."""
        run: Any = super().make_view_atomic(view)

        async def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if iscoroutinefunction(run):
                return _plain(await run(request, *args, **kwargs))
            return await in_db(lambda: _plain(run(request, *args, **kwargs)))

        return answer

    async def read_body(self, receive: Any) -> BytesIO:
        """Read the body into memory; `BodyLimit` has limited its size. Raises RequestAborted.

        Nothing has to be closed, so a view can read the body after its client has disconnected.
        """
        parts: list[bytes] = []
        is_more = True
        while is_more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RequestAborted
            parts.append(message.get("body", b""))
            is_more = message.get("more_body", False)
        return BytesIO(b"".join(parts))

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle a request as Django does, without its signals.

        Their receivers manage connections, which `in_db` does here.

        If the client disconnects, no further step starts, and a view that runs in a thread finishes.
        """
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        set_script_prefix(get_script_prefix(scope))
        request, refusal = self.create_request(scope, body)
        answering = asyncio.ensure_future(self._answer(request, refusal, send))
        leaving = asyncio.ensure_future(self.listen_for_disconnect(receive))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            answering.cancel()
            # `asyncio.wait` doesn't raise. Awaiting a canceled task would create a reference cycle of its traceback,
            # the request and this frame, which only a garbage collection frees, and a collection stops everyone.
            await asyncio.wait({answering, leaving})
        with suppress(asyncio.CancelledError, RequestAborted):
            answering.result()

    async def _answer(self, request: HttpRequest | None, refusal: Any, send: Any) -> None:
        response = refusal if request is None else await self.run_get_response(request)
        with closing(response):
            await self.send_response(response, send)


def _plain(response: Any) -> Any:
    """A rendered copy of the response without its renderer. Django would render again, in another thread."""
    if not isinstance(response, SimpleTemplateResponse):
        return response
    response.render()
    plain = HttpResponse(response.content, status=response.status_code)
    plain.headers, plain.cookies = response.headers, response.cookies
    # DRF's context refers to the response, which would keep the view and the request until a collection.
    vars(response).pop("renderer_context", None)
    return plain


_pages: Any = get_asgi_application()
# Models can be imported now that Django is set up.
_calls: Any = import_string("conversations.calls.relay.socket.relay_socket")
_api: Any = ApiHandler(settings.API_MIDDLEWARE)
_probes: Any = ApiHandler(settings.PROBE_MIDDLEWARE)


async def _serve(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await _live(receive, send)
        return
    path = scope.get("path", "")
    if scope["type"] == "websocket":
        await _serve_socket(path, scope, receive, send)
        return
    if path == METRICS:
        await metrics_page(scope, send)
        return
    serve = _api if path.startswith((API, WIDGET, HOOKS)) and not path.startswith(DOCS) else _pages
    await (_probes if path in PROBES else serve)(scope, receive, send)


async def _serve_socket(path: str, scope: Any, receive: Any, send: Any) -> None:
    """Serve the WebSocket of a phone call. There are no others."""
    if path.startswith(CALLS):
        await _calls(scope, receive, send)
    else:
        await receive()
        await send({"type": "websocket.close", "code": 1008})


async def _live(receive: Any, send: Any) -> None:
    """The life of a process of the web server, from its start to its end."""
    await receive()
    # In a forked process, uvicorn has set up its own logging after ours.
    logging.getLogger("uvicorn").handlers.clear()
    logging.getLogger("uvicorn").propagate = True
    begin_telemetry("web")
    watching = asyncio.get_running_loop().create_task(watch_loop())
    await send({"type": "lifespan.startup.complete"})
    await receive()
    watching.cancel()
    end_telemetry()
    await send({"type": "lifespan.shutdown.complete"})


settle()
_limited = BodyLimit(_serve)  # type: ignore[arg-type]  # ASGI's shapes are looser than their types
application = TrustedProxies(_limited, networks=settings.TRUSTED_PROXIES)
