"""The metrics and traces of a process: when they begin and end, and the page that shows them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.conf import settings

from telemetry.exposition import CONTENT_TYPE, render_metrics
from telemetry.recording import begin_recording, end_recording
from telemetry.registry import SAMPLES, SOURCES
from telemetry.sampling import Recorder
from telemetry.server import may_read, serve_metrics
from telemetry.tracing import begin_tracing, end_tracing
from tenancy.replica import replica_metrics
from tenancy.samples import DatabaseSample

Send = Callable[[dict[str, Any]], Awaitable[None]]


def begin_telemetry(role: str) -> None:
    """Begin metrics and traces of this process, after its last fork. `role` is its kind: web, replies, work or beat."""
    begin_recording(
        role, directory=settings.METRICS_DIR, names_tenants=settings.METRICS_TENANTS, version=settings.VERSION
    )
    begin_tracing(role, version=settings.VERSION)
    Recorder(DatabaseSample(), *SAMPLES).start()
    if settings.METRICS_ADDRESS is not None:
        serve_metrics(settings.METRICS_ADDRESS, render=render, token=settings.METRICS_TOKEN)


def end_telemetry() -> None:
    """Send the last spans, and delete the figures of this process."""
    end_tracing()
    end_recording()


async def metrics_page(scope: Mapping[str, Any], send: Send) -> None:
    """Answer a request for the metrics: 200 for the operator's token, otherwise 404.

    An ASGI application of its own. Prometheus asks by IP address, and Django checks the name of the host.
    """
    given = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
    if scope["method"] == "GET" and may_read(given, token=settings.METRICS_TOKEN):
        await _answer(send, status=200, body=await asyncio.to_thread(render), content_type=CONTENT_TYPE)
    else:
        await _answer(send, status=404, body=b"Not found\n", content_type="text/plain")


async def _answer(send: Send, *, status: int, body: bytes, content_type: str) -> None:
    headers = [
        (b"content-type", content_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def render() -> bytes:
    """The page of metrics."""
    return render_metrics(settings.METRICS_DIR, further=(*SOURCES, replica_metrics))
