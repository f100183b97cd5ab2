"""Spans before they are sent, and the ids that connect them across processes (W3C Trace Context)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

Value = str | int | float | bool | tuple[str, ...]
Attributes = Mapping[str, Value]

# The lengths of the parts of a `traceparent`: version, trace, span, flags.
PARTS = (2, 32, 16, 2)
SAMPLED = 1


class Kind(Enum):
    """The kinds of spans, by OpenTelemetry's names."""

    SERVER = "SERVER"
    CONSUMER = "CONSUMER"
    CLIENT = "CLIENT"
    INTERNAL = "INTERNAL"


class Ids(NamedTuple):
    """The identity of a span. An unsampled one has an identity too, so that the spans below it know."""

    trace_id: int
    span_id: int
    is_sampled: bool

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace_id:032x}-{self.span_id:016x}-{SAMPLED if self.is_sampled else 0:02x}"


@dataclass(slots=True)
class Span:
    """A span, with its times in nanoseconds since 1970. `error` is the type of a failure."""

    name: str
    kind: Kind
    ids: Ids
    parent: Ids | None
    attributes: dict[str, Value]
    began_at_ns: int
    ended_at_ns: int = 0
    error: str = ""
    linked: Ids | None = None


def parse_ids(traceparent: str) -> Ids | None:
    """The identity in a `traceparent`, or None if there is none."""
    parts = traceparent.split("-")
    if tuple(map(len, parts)) != PARTS:
        return None
    try:
        trace_id, span_id, flags = (int(part, 16) for part in parts[1:])
    except ValueError:
        return None
    return Ids(trace_id, span_id, bool(flags & SAMPLED)) if trace_id and span_id else None
