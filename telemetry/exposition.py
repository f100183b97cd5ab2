"""The figures of all processes of this machine, in Prometheus's text format."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from telemetry.slots import figures_of, live_slots

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
# The label that tells the processes of a machine apart.
PROCESS = "process"

Source = Callable[[], Iterable[Metric]]


def render_metrics(directory: Path, *, further: Iterable[Source]) -> bytes:
    """The page of metrics: those of the processes that run, then `further` ones."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Lines(lambda: live_metrics(directory)))
    for source in further:
        registry.register(_Lines(source))
    return generate_latest(registry)


class _Lines(Collector):
    def __init__(self, source: Source) -> None:
        self._source = source

    def collect(self) -> Iterable[Metric]:
        return self._source()


def live_metrics(directory: Path) -> list[Metric]:
    """The metrics of each process that runs, with its name as a label.

    Values of processes aren't added up, so that a process that ends is a counter that ends, as Prometheus expects it.
    """
    merged: dict[str, Metric] = {}
    for name in live_slots(directory):
        for metric in _read(directory, name):
            into = merged.setdefault(metric.name, Metric(metric.name, metric.documentation, metric.type))
            for sample in metric.samples:
                into.add_sample(sample.name, {**sample.labels, PROCESS: name}, sample.value)
    return list(merged.values())


def _read(directory: Path, name: str) -> Iterable[Metric]:
    try:
        files = [str(file) for file in figures_of(directory, name)]
        found: Iterable[Metric] = MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call]
    except FileNotFoundError:
        # It ended in this moment.
        return ()
    return found
