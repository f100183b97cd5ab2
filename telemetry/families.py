"""Metric families. The running code only notes a value; a thread records what was noted, twice a second.

Noting takes a tenth of what recording does in the middle of other work. A family notes nothing until its process has
begun to record, so that commands and tests pay nothing.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar
from uuid import UUID

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

# The label of a tenant, of the families that may have it.
TENANT = "organization"
# Values of some thousand turns. Without a thread that records them, the oldest are dropped.
MOST_NOTED = 100_000

_noted: deque[tuple[Family, tuple[str, ...], UUID | None, float]] = deque(maxlen=MOST_NOTED)


def record_noted() -> None:
    """Record what was noted since the last call. Values of the same metric are recorded together."""
    values: dict[tuple[Family, tuple[str, ...], UUID | None], list[float]] = defaultdict(list)
    while _noted:
        family, labels, tenant, value = _noted.popleft()
        values[family, labels, tenant].append(value)
    for (family, labels, tenant), found in values.items():
        family.record(found, labels=labels, tenant=tenant)


class Family:
    """One metric with its labels. Thread-safe.

    With `by_tenant`, it gets one more label for the organization's id where the operator asks for it.
    """

    all: ClassVar[list[Family]] = []

    def __init__(self, name: str, meaning: str, labels: Sequence[str] = (), *, by_tenant: bool = False) -> None:
        self.name = name
        self.labels = tuple(labels)
        self._meaning = meaning
        self._by_tenant = by_tenant
        self._names_tenant = False
        self._metric: Any = None
        self._children: dict[tuple[str, ...], Any] = {}
        Family.all.append(self)

    @property
    def sample_names(self) -> tuple[str, ...]:
        """The names that a query may use."""
        return (self.name,)

    def begin(self, registry: CollectorRegistry, *, names_tenant: bool) -> None:
        """Note values from now on."""
        self._names_tenant = names_tenant and self._by_tenant
        labels = (*self.labels, TENANT) if self._names_tenant else self.labels
        self._children = {}
        self._metric = self._make(registry, labels)

    def end(self) -> None:
        """Note nothing any more."""
        self._metric, self._children = None, {}

    def record(self, values: Sequence[float], *, labels: tuple[str, ...], tenant: UUID | None) -> None:
        """Record values of the same labels. Nothing is recorded after the end."""
        if self._metric is None:
            return
        if self._names_tenant:
            labels = (*labels, str(tenant or ""))
        child = self._children.get(labels)
        if child is None:
            child = self._children[labels] = self._metric.labels(*labels) if labels else self._metric
        self._record(child, values)

    def _note(self, value: float, labels: tuple[str, ...], tenant: UUID | None = None) -> None:
        if self._metric is not None:
            _noted.append((self, labels, tenant, value))

    def _make(self, registry: CollectorRegistry, labels: tuple[str, ...]) -> Any:
        raise NotImplementedError

    def _record(self, child: Any, values: Sequence[float]) -> None:
        child.inc(sum(values))


class CounterFamily(Family):
    """A count that only grows. Its name ends with `_total`."""

    def inc(self, *labels: str, by: float = 1.0, tenant: UUID | None = None) -> None:
        self._note(by, labels, tenant)

    def _make(self, registry: CollectorRegistry, labels: tuple[str, ...]) -> Counter:
        return Counter(self.name, self._meaning, labels, registry=registry)


class GaugeFamily(Family):
    """A value that rises and falls."""

    def inc(self, *labels: str, by: float = 1.0) -> None:
        self._note(by, labels)

    @contextmanager
    def tracked(self) -> Iterator[None]:
        """Count what is inside while it runs."""
        self.inc()
        try:
            yield
        finally:
            self.inc(by=-1)

    def _make(self, registry: CollectorRegistry, labels: tuple[str, ...]) -> Gauge:
        return Gauge(self.name, self._meaning, labels, registry=registry, multiprocess_mode="livesum")


class LevelFamily(GaugeFamily):
    """A value that is looked at now and then."""

    def set(self, value: float, *labels: str) -> None:
        self._note(value, labels)

    def _record(self, child: Any, values: Sequence[float]) -> None:
        child.set(values[-1])


class HistogramFamily(Family):
    """A distribution of seconds."""

    def __init__(
        self,
        name: str,
        meaning: str,
        labels: Sequence[str] = (),
        *,
        buckets: Sequence[float],
        by_tenant: bool = False,
    ) -> None:
        super().__init__(name, meaning, labels, by_tenant=by_tenant)
        self._buckets = buckets

    @property
    def sample_names(self) -> tuple[str, ...]:
        return (f"{self.name}_bucket", f"{self.name}_sum", f"{self.name}_count")

    def observe(self, seconds: float, *labels: str, tenant: UUID | None = None) -> None:
        self._note(seconds, labels, tenant)

    def _make(self, registry: CollectorRegistry, labels: tuple[str, ...]) -> Histogram:
        return Histogram(self.name, self._meaning, labels, registry=registry, buckets=self._buckets)

    def _record(self, child: Any, values: Sequence[float]) -> None:
        for value in values:
            child.observe(value)
