"""The place of the running code in the work: its trace, request and job. Log lines and traces carry it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID


@dataclass(slots=True)
class Place:
    """The request or the job that the running code works for.

    `trace` is a W3C `traceparent`, or only the trace's id where no spans are recorded. `span` is the span that new ones
    are children of. The tenant of a request is known later than its beginning.
    """

    trace: str = ""
    request: str = ""
    job: str = ""
    lane: str = ""
    tenant: str = ""
    span: Any = field(default=None, compare=False)

    @property
    def trace_id(self) -> str:
        """The trace's 32 hexadecimal digits, or an empty string."""
        return self.trace.split("-")[1] if "-" in self.trace else self.trace


NOWHERE = Place()
_place: ContextVar[Place] = ContextVar("place", default=NOWHERE)


def current_place() -> Place:
    """The place of this task or thread."""
    return _place.get()


def note_tenant(tenant: UUID) -> None:
    """Tell the place whose rows are read."""
    place = _place.get()
    if place is not NOWHERE:
        place.tenant = str(tenant)


@contextmanager
def at(place: Place) -> Iterator[Place]:
    """Work at a place. Tasks and threads that are started inside inherit it."""
    token = _place.set(place)
    try:
        yield place
    finally:
        _place.reset(token)
