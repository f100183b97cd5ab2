"""The state of the workers that run, asked for through Celery's remote control."""

from __future__ import annotations

import time
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass
from typing import Any

from celery import current_app
from celery.worker.control import inspect_command
from django.conf import settings

from jobs import runner
from jobs.model_client import open_breakers
from projects.agents.model_telemetry import provider_of
from telemetry.sampling import resident_bytes

COMMAND = "makegood_status"
# Every worker that is alive answers within this time; the reader waits for as long.
ANSWER_SECONDS = 1.0
LOOP_SECONDS = 0.5

_started_at = time.time()


@dataclass(frozen=True)
class WorkerStatus:
    """One worker. `loop_late_seconds` is None if its event loop doesn't turn, so that it runs no job."""

    name: str
    version: str
    queues: tuple[str, ...]
    jobs: int
    started_at: float
    memory_bytes: int
    loop_late_seconds: float | None
    # Providers whose calls are refused for now.
    paused_providers: tuple[str, ...]


@inspect_command(name=COMMAND)
def report_status(state: Any, **_: Any) -> dict[str, Any]:
    """The worker's answer. Runs in the thread that receives messages."""
    return {
        "version": settings.VERSION,
        "queues": runner.queues(),
        "jobs": runner.count_jobs(),
        "started_at": _started_at,
        "memory_bytes": resident_bytes(),
        "loop_late_seconds": _loop_late_seconds(),
        "paused_providers": sorted({provider_of(endpoint) for endpoint in open_breakers()}),
    }


def read_workers() -> list[WorkerStatus]:
    """The workers that answer now, by name. Two of the same name are two. Raises redis.RedisError and OSError."""
    replies = current_app.control.broadcast(COMMAND, reply=True, timeout=ANSWER_SECONDS) or []
    return sorted(
        (_status(name, answer) for reply in replies for name, answer in reply.items() if "version" in answer),
        key=lambda worker: worker.name,
    )


def _status(name: str, answer: dict[str, Any]) -> WorkerStatus:
    return WorkerStatus(
        name=name,
        version=str(answer["version"]),
        queues=tuple(answer["queues"]),
        jobs=int(answer["jobs"]),
        started_at=float(answer["started_at"]),
        memory_bytes=int(answer["memory_bytes"]),
        loop_late_seconds=answer["loop_late_seconds"],
        paused_providers=tuple(answer["paused_providers"]),
    )


def _loop_late_seconds() -> float | None:
    """How long the event loop takes to answer, or None if it doesn't."""
    began = time.monotonic()
    try:
        runner.ping().result(timeout=LOOP_SECONDS)
    except Late:
        return None
    return time.monotonic() - began
