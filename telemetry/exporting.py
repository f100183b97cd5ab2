"""OpenTelemetry's side of the traces: its sampler and ids, and the processor that sends spans in batches."""

from __future__ import annotations

import os
import threading
from typing import Any

from telemetry.spans import Ids, Kind, Span

FLUSH_SECONDS = 2.0


def is_installed() -> bool:
    """True if OpenTelemetry's SDK and its exporter can be imported."""
    try:
        _import_sdk()
    except ImportError:
        return False
    return True


class Exporting:
    """The connection to the operator's collector. Raises ImportError without OpenTelemetry."""

    def __init__(self, role: str, *, version: str) -> None:
        self._api, sdk, exporter = _import_sdk()
        self._sdk = sdk
        name = os.environ.get("OTEL_SERVICE_NAME") or f"makegood-{role}"
        self._resource = sdk.resources.Resource.create(
            {"service.name": name, "service.version": version, "makegood.process": role}
        )
        self._scope = sdk.util.instrumentation.InstrumentationScope("makegood", version)
        # It reads OTEL_TRACES_SAMPLER.
        provider = sdk.trace.TracerProvider(shutdown_on_exit=False)
        self._sampler, self._generator = provider.sampler, provider.id_generator
        self._processor = sdk.trace.export.BatchSpanProcessor(exporter.OTLPSpanExporter())

    def new_ids(self, parent: Ids | None, *, name: str, kind: Kind) -> Ids:
        """The identity of a new span. A trace is sampled as a whole, by its first span."""
        if parent is not None:
            return Ids(parent.trace_id, self._generator.generate_span_id(), parent.is_sampled)
        trace_id = self._generator.generate_trace_id()
        found = self._sampler.should_sample(None, trace_id, name, self._api.SpanKind[kind.value])
        return Ids(trace_id, self._generator.generate_span_id(), found.decision.is_sampled())

    def add(self, span: Span) -> None:
        """Send a span with the next batch."""
        self._processor.on_end(self._readable(span))

    def end(self) -> None:
        """Send the last batch. A collector that doesn't answer delays nothing for longer than FLUSH_SECONDS."""
        flushing = threading.Thread(target=self._processor.force_flush, name="last spans", daemon=True)
        flushing.start()
        flushing.join(FLUSH_SECONDS)

    def _readable(self, span: Span) -> Any:
        api = self._api
        attributes = {**span.attributes, "error.type": span.error} if span.error else span.attributes
        return self._sdk.trace.ReadableSpan(
            name=span.name,
            context=self._context(span.ids),
            parent=self._context(span.parent) if span.parent else None,
            resource=self._resource,
            attributes=attributes,
            links=[api.Link(self._context(span.linked))] if span.linked else (),
            kind=api.SpanKind[span.kind.value],
            status=api.Status(api.StatusCode.ERROR) if span.error else api.Status(),
            start_time=span.began_at_ns,
            end_time=span.ended_at_ns,
            instrumentation_scope=self._scope,
        )

    def _context(self, ids: Ids) -> Any:
        flags = self._api.TraceFlags(self._api.TraceFlags.SAMPLED if ids.is_sampled else 0)
        return self._api.SpanContext(ids.trace_id, ids.span_id, is_remote=False, trace_flags=flags)


def _import_sdk() -> tuple[Any, Any, Any]:
    """OpenTelemetry's API, SDK and exporter. Raises ImportError."""
    from opentelemetry import sdk, trace
    from opentelemetry.exporter.otlp.proto.http import trace_exporter

    return trace, sdk, trace_exporter
