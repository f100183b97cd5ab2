"""An OTLP receiver: the HTTP endpoint of a collector, with OpenTelemetry's own messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.local_server import LocalServer, QuietHandler

SERVER, CLIENT, CONSUMER = 2, 3, 5


@dataclass(frozen=True)
class Span:
    """A span as it was received."""

    name: str
    kind: int
    service: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: dict[str, Any]
    links: tuple[str, ...]
    is_error: bool


@dataclass
class Receiver:
    url: str
    spans: list[Span] = field(default_factory=list)

    @property
    def env(self) -> dict[str, str]:
        """The environment of a process that sends its spans here, soon."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]


def value_of(value: Any) -> Any:
    kind = value.WhichOneof("value")
    found = getattr(value, kind)
    return [value_of(one) for one in found.values] if kind == "array_value" else found


def read(body: bytes) -> Iterator[Span]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        service = {one.key: value_of(one.value) for one in resource.resource.attributes}["service.name"]
        for span in (span for scope in resource.scope_spans for span in scope.spans):
            yield Span(
                name=span.name,
                kind=span.kind,
                service=service,
                trace_id=span.trace_id.hex(),
                span_id=span.span_id.hex(),
                parent_id=span.parent_span_id.hex(),
                attributes={one.key: value_of(one.value) for one in span.attributes},
                links=tuple(link.trace_id.hex() for link in span.links),
                is_error=span.status.code == 2,
            )


@contextmanager
def otlp_receiver() -> Iterator[Receiver]:
    class Handler(QuietHandler):
        def do_POST(self) -> None:
            receiver.spans += read(self.rfile.read(int(self.headers["Content-Length"])))
            self.respond(200, b"", {"Content-Type": "application/x-protobuf"})

    with LocalServer(Handler) as server:
        receiver = Receiver(server.origin)
        yield receiver
