"""Check of the workers that run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.timesince import timesince
from kombu.exceptions import OperationalError
from redis import RedisError

from jobs.lanes import Queue
from jobs.worker_status import WorkerStatus, read_workers
from operations.finding import Finding, Section, Table, bad, ok, plural, warn

LATE_SECONDS = 0.2
COMMANDS = {Queue.REPLIES: "bin/run replies", Queue.WORK: "bin/run work"}
MISSED = {
    Queue.REPLIES: "No worker for replies answers, so no customer is answered.",
    Queue.WORK: "No worker for other work answers, so no promise is detected or kept.",
}
MEGABYTE = 1_000_000


def find_workers() -> list[WorkerStatus] | None:
    """The workers that answer within a second, or None if none can be asked."""
    try:
        return read_workers()
    except (RedisError, OSError, OperationalError):
        return None


def check_workers(workers: list[WorkerStatus] | None) -> Section:
    """The workers, and the queues that none of them serves."""
    if workers is None:
        return Section("Workers", (bad("Workers can't be asked.", "Start Redis, and see REDIS_URL."),))
    findings = (*_missing(workers), *_same_names(workers), *_troubled(workers))
    return Section(
        "Workers", findings or (ok(f"{plural(len(workers), 'worker answers', 'workers answer')}."),), (_table(workers),)
    )


def _missing(workers: Iterable[WorkerStatus]) -> list[Finding]:
    served = {queue for worker in workers for queue in worker.queues}
    return [bad(MISSED[queue], f"Start {COMMANDS[queue]}.") for queue in Queue if queue not in served]


def _same_names(workers: Iterable[WorkerStatus]) -> list[Finding]:
    counts = Counter(worker.name for worker in workers)
    return [
        warn(f"{number} workers are named {name}.", "Give each its own: bin/run replies --name replies-2.")
        for name, number in counts.items()
        if number > 1
    ]


def _troubled(workers: Iterable[WorkerStatus]) -> list[Finding]:
    found = []
    for worker in workers:
        if worker.loop_late_seconds is None:
            found.append(bad(f"{worker.name} answers, but runs no job: its event loop is stuck.", "Restart it."))
        elif worker.loop_late_seconds > LATE_SECONDS:
            late = f"{1000 * worker.loop_late_seconds:.0f} ms"
            found.append(warn(f"The event loop of {worker.name} is late by {late}.", "Add workers or machines."))
        if worker.version != settings.VERSION:
            text = f"{worker.name} runs version {worker.version}, and this process {settings.VERSION}."
            found.append(warn(text, "Restart it on the new version."))
    return found


def _table(workers: Iterable[WorkerStatus]) -> Table:
    rows = tuple(
        (
            worker.name,
            ", ".join(worker.queues),
            str(worker.jobs),
            f"{worker.memory_bytes / MEGABYTE:.0f} MB",
            _age(worker.started_at),
            worker.version,
        )
        for worker in workers
    )
    return Table(("Worker", "Queues", "Jobs", "Memory", "Up for", "Version"), rows)


def _age(started_at: float) -> str:
    now = timezone.now()
    return timesince(now - timedelta(seconds=max(0.0, now.timestamp() - started_at)), now, depth=1)
