"""Runs a program of ours and meters its telemetry: `python -m bench.metered FILE MODULE [ARGUMENT …]`.

FILE holds the CPU nanoseconds of this process's metrics and of its traces so far, as two numbers. The starter creates
it. The cost of the meter itself is left out.
"""

from __future__ import annotations

import mmap
import runpy
import struct
import sys
import threading
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

from telemetry import families, sampling, tracing

METRICS, TRACES = 0, 1
NUMBERS = struct.Struct("qq")
CALIBRATIONS = 10_000


class Meter:
    """The CPU time of the wrapped functions, of all threads."""

    def __init__(self, file: Path) -> None:
        with file.open("r+b") as opened:
            self._shared = mmap.mmap(opened.fileno(), NUMBERS.size)
        self._lock = threading.Lock()
        self._totals = [0, 0]
        self._own_ns = 0
        self._own_ns = self._calibrate()

    def wrap(self, owner: Any, name: str, kind: int) -> None:
        """Meter a function or a method from now on."""
        setattr(owner, name, self._metered(getattr(owner, name), kind))

    def _metered(self, function: Callable[..., Any], kind: int) -> Callable[..., Any]:
        @wraps(function)
        def metered(*args: Any, **kwargs: Any) -> Any:
            began = time.thread_time_ns()
            try:
                return function(*args, **kwargs)
            finally:
                self._add(kind, time.thread_time_ns() - began - self._own_ns)

        return metered

    def _add(self, kind: int, nanoseconds: int) -> None:
        with self._lock:
            self._totals[kind] += nanoseconds
            self._shared[:] = NUMBERS.pack(*self._totals)

    def _calibrate(self) -> int:
        """The CPU time that a function seems to take that does nothing."""
        nothing = self._metered(lambda: None, METRICS)
        for _ in range(CALIBRATIONS):
            nothing()
        found, self._totals = self._totals[METRICS] // CALIBRATIONS, [0, 0]
        return found


def read_meter(file: Path) -> tuple[float, float]:
    """The CPU seconds of metrics and traces so far."""
    metrics, traces = NUMBERS.unpack(file.read_bytes())
    return metrics / 1e9, traces / 1e9


def meter_telemetry(meter: Meter) -> None:
    """Meter all that the product calls, and what runs in threads of its own."""
    meter.wrap(families.Family, "_note", METRICS)
    meter.wrap(sampling.ProcessSample, "__call__", METRICS)
    # Both are imported by name already.
    meter.wrap(sampling, "record_noted", METRICS)
    meter.wrap(sampling, "send_noted", TRACES)
    for name in ("start_span", "end_span", "record_span"):
        meter.wrap(tracing, name, TRACES)
    meter.wrap(OTLPSpanExporter, "export", TRACES)


def main() -> None:
    _, file, module, *arguments = sys.argv
    sys.argv = [module, *arguments]
    meter_telemetry(Meter(Path(file)))
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
