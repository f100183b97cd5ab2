"""The thread that records figures, and figures that it looks at every few seconds."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import threading
import time
from collections.abc import Callable

from telemetry.families import record_noted
from telemetry.metrics import LOOP_LAG, PROCESS_CPU, PROCESS_MEMORY
from telemetry.tracing import send_noted

log = logging.getLogger(__name__)

EVERY_SECONDS = 5.0
RECORD_SECONDS = 0.5
LOOP_SECONDS = 0.5
PAGE_BYTES = resource.getpagesize()

Sample = Callable[[], None]


class Growth:
    """The growth of a total since the last look, for counters of totals that others count."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}

    def of(self, name: str, total: float) -> float:
        """The growth, never negative. A total that was reset counts from zero."""
        before, self._seen[name] = self._seen.get(name, 0.0), total
        return total - before if total >= before else total


class Recorder:
    """The thread that records what the process notes, and that takes its samples.

    A sample that fails is logged, and the others follow.
    """

    def __init__(self, *samples: Sample) -> None:
        self._samples: tuple[Sample, ...] = (ProcessSample(), *samples)
        self._stopped = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="telemetry", daemon=True).start()

    def stop(self) -> None:
        """Record what is noted, and end."""
        self._stopped.set()
        record_noted()

    def _run(self) -> None:
        sampled_at = -EVERY_SECONDS
        while not self._stopped.wait(RECORD_SECONDS):
            if time.monotonic() - sampled_at >= EVERY_SECONDS:
                sampled_at = time.monotonic()
                for sample in self._samples:
                    _try(sample)
            _try(record_noted)
            _try(send_noted)


def _try(step: Callable[[], None]) -> None:
    try:
        step()
    except Exception:  # the thread's boundary: the next steps are taken in any case
        log.exception("A step of the metrics failed.")


class ProcessSample:
    """CPU time and memory of this process."""

    def __init__(self) -> None:
        self._growth = Growth()

    def __call__(self) -> None:
        times = os.times()
        PROCESS_CPU.inc(by=self._growth.of("cpu", times.user + times.system))
        PROCESS_MEMORY.set(resident_bytes())


def resident_bytes() -> int:
    """The resident memory of this process, or 0 where the system doesn't tell."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * PAGE_BYTES
    except OSError:
        return 0


async def watch_loop() -> None:
    """Measure how late the running event loop is, until cancelled."""
    loop = asyncio.get_running_loop()
    worst, looked_at = 0.0, loop.time()
    while True:
        due_at = loop.time() + LOOP_SECONDS
        await asyncio.sleep(LOOP_SECONDS)
        worst = max(worst, loop.time() - due_at)
        if loop.time() - looked_at >= EVERY_SECONDS:
            LOOP_LAG.set(worst)
            worst, looked_at = 0.0, loop.time()
