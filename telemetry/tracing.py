"""Traces by OpenTelemetry, where the operator has installed it and named a collector.

Its own variables configure it (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_SAMPLER` …). Spans carry names, ids and
numbers, never content. The running code only notes a span; a thread hands what was noted to OpenTelemetry, which sends
it.
"""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from telemetry.exporting import Exporting, is_installed
from telemetry.place import Place, at, current_place
from telemetry.spans import Attributes, Ids, Kind, Span, parse_ids

__all__ = ["Attributes", "Kind", "begin_tracing", "end_span", "in_span", "record_span", "start_span"]

log = logging.getLogger(__name__)

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
# Spans of some thousand turns. Without a thread that sends them, the oldest are dropped.
MOST_NOTED = 50_000


@dataclass
class _Tracing:
    exporting: Exporting | None = None
    noted: deque[Span] = field(default_factory=lambda: deque(maxlen=MOST_NOTED))


_tracing = _Tracing()


def is_wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """True if the operator has named a collector."""
    is_disabled = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not is_disabled and any(environ.get(name, "").strip() for name in ENDPOINTS)


def begin_tracing(role: str, *, version: str) -> None:
    """Note spans of this process from now on, if they are wanted. Idempotent. Call it after the last fork."""
    if _tracing.exporting is not None or not is_wanted():
        return
    if not is_installed():
        log.warning("There are no traces: install requirements-traces.txt, or unset %s.", " and ".join(ENDPOINTS))
        return
    _tracing.exporting = Exporting(role, version=version)


def end_tracing() -> None:
    """Send what was noted, for up to two seconds. Idempotent."""
    send_noted()
    exporting, _tracing.exporting = _tracing.exporting, None
    if exporting is not None:
        exporting.end()


def send_noted() -> None:
    """Hand the spans that ended since the last call to OpenTelemetry."""
    while _tracing.noted and (exporting := _tracing.exporting) is not None:
        exporting.add(_tracing.noted.popleft())


def is_tracing() -> bool:
    """True if spans are noted."""
    return _tracing.exporting is not None


def start_span(
    name: str, *, kind: Kind, parent: Place, attributes: Attributes | None = None, linked: str = ""
) -> Place:
    """Begin a span below a place, and return the place inside it. Without tracing, the parent.

    `linked` is the `traceparent` of a client, which is named but not believed.
    """
    exporting = _tracing.exporting
    if exporting is None:
        return parent
    above = _ids_of(parent)
    ids = exporting.new_ids(above, name=name, kind=kind)
    span = Span(name, kind, ids, above, dict(attributes or {}), time.time_ns(), linked=parse_ids(linked))
    return Place(
        trace=ids.traceparent,
        request=parent.request,
        job=parent.job,
        lane=parent.lane,
        tenant=parent.tenant,
        span=span,
    )


def end_span(place: Place, *, name: str = "", attributes: Attributes | None = None, error: str = "") -> None:
    """End the span of a place that `start_span` returned. `error` is the type of a failure."""
    span: Span | None = place.span
    if span is None:
        return
    span.name = name or span.name
    span.attributes |= attributes or {}
    _note(span, ended_at_ns=time.time_ns(), error=error)


@contextmanager
def in_span(name: str, *, attributes: Attributes | None) -> Iterator[Place]:
    """Work inside a span below the current place. An exception marks it as failed, by its type alone."""
    parent = current_place()
    if _tracing.exporting is None:
        yield parent
        return
    place, error = start_span(name, kind=Kind.INTERNAL, parent=parent, attributes=attributes), ""
    try:
        with at(place):
            yield place
    except BaseException as failure:
        error = type(failure).__name__
        raise
    finally:
        end_span(place, error=error)


def record_span(
    name: str, *, kind: Kind, began_at_ns: int, ended_at_ns: int, attributes: Attributes, error: str
) -> None:
    """Note a span below the current place that has ended already."""
    exporting = _tracing.exporting
    if exporting is None:
        return
    above = _ids_of(current_place())
    ids = exporting.new_ids(above, name=name, kind=kind)
    _note(Span(name, kind, ids, above, dict(attributes), began_at_ns), ended_at_ns=ended_at_ns, error=error)


def _note(span: Span, *, ended_at_ns: int, error: str) -> None:
    span.ended_at_ns, span.error = ended_at_ns, error
    if span.ids.is_sampled:
        _tracing.noted.append(span)


def _ids_of(place: Place) -> Ids | None:
    """The ids of the span that a place is inside of, in this process or in another one."""
    span: Span | None = place.span
    return span.ids if span is not None else parse_ids(place.trace)
