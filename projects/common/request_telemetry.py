"""Metrics, the span and the place in the log of a request."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from telemetry.metrics import HTTP_REQUESTS, HTTP_SECONDS
from telemetry.place import Place, at
from telemetry.tracing import Kind, end_span, is_tracing, start_span

# The parts of the site by the beginning of their paths.
AREAS = {
    "api": "api",
    "widget": "widget",
    "widget.js": "widget",
    "admin": "admin",
    "static": "static",
    "hooks": "hooks",
}
PAGES = "pages"
# Other methods share a label, because a client may invent any.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
# The status of a request whose client left before the response began.
LEFT = 499


@dataclass
class Answering:
    """A request that is being answered. `status` is set when the response begins."""

    status: int = LEFT


@contextmanager
def answering(request: HttpRequest, *, request_id: str) -> Iterator[Answering]:
    """Measure until the response begins, in a trace of the request's own."""
    place = start_span(
        request.method or OTHER,
        kind=Kind.SERVER,
        parent=Place(trace=request_id, request=request_id),
        linked=request.headers.get("traceparent", ""),
    )
    began, seen = time.perf_counter(), Answering()
    try:
        with at(place):
            yield seen
    finally:
        area, method = _area_of(request.path), request.method if request.method in METHODS else OTHER
        HTTP_REQUESTS.inc(area, method, str(seen.status))
        HTTP_SECONDS.observe(time.perf_counter() - began, area)
        if is_tracing():
            _end_span(place, request, status=seen.status)


def _area_of(path: str) -> str:
    return AREAS.get(path[1:].partition("/")[0], PAGES)


def _end_span(place: Place, request: HttpRequest, *, status: int) -> None:
    """Name the span after the route, which is known by now. The path itself may hold a secret."""
    match: Any = getattr(request, "resolver_match", None)
    route = f"/{match.route}" if match else ""
    attributes: dict[str, str | int] = {
        "http.request.method": request.method or OTHER,
        "http.route": route,
        "http.response.status_code": status,
        "makegood.request.id": place.request,
    }
    if place.tenant:
        attributes["makegood.organization.id"] = place.tenant
    end_span(
        place,
        name=f"{request.method} {route}".rstrip(),
        attributes=attributes,
        error=str(status) if status >= 500 else "",
    )
