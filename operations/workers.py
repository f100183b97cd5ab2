"""Check of the workers that run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext, ngettext
from kombu.exceptions import OperationalError
from redis import RedisError

from jobs.lanes import Queue
from jobs.worker_status import WorkerStatus, read_workers
from operations.finding import Finding, Section, Table, bad, ok, warn
from projects.common.translation import lazy

LATE_SECONDS = 0.2
COMMANDS = {Queue.REPLIES: "bin/run replies", Queue.WORK: "bin/run work"}
MISSED = {
    Queue.REPLIES: lazy("No worker for replies answers, so no customer is answered."),
    Queue.WORK: lazy("No worker for other work answers, so no promise is detected or kept."),
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
    title = gettext("Workers")
    if workers is None:
        return Section(title, (bad(gettext("Workers can't be asked."), gettext("Start Redis, and see REDIS_URL.")),))
    findings = (*_missing(workers), *_same_names(workers), *_troubled(workers))
    says = ngettext("%(count)s worker answers.", "%(count)s workers answer.", len(workers)) % {"count": len(workers)}
    return Section(title, findings or (ok(says),), (_table(workers),))


def _missing(workers: Iterable[WorkerStatus]) -> list[Finding]:
    served = {queue for worker in workers for queue in worker.queues}
    start = gettext("Start %(command)s.")
    return [bad(str(MISSED[queue]), start % {"command": COMMANDS[queue]}) for queue in Queue if queue not in served]


def _same_names(workers: Iterable[WorkerStatus]) -> list[Finding]:
    counts = Counter(worker.name for worker in workers)
    says = gettext("%(count)s workers are named %(name)s.")
    action = gettext("Give each its own: %(command)s.") % {"command": "bin/run replies --name replies-2"}
    return [warn(says % {"count": number, "name": name}, action) for name, number in counts.items() if number > 1]


def _troubled(workers: Iterable[WorkerStatus]) -> list[Finding]:
    found = []
    for worker in workers:
        if worker.loop_late_seconds is None:
            text = gettext("%(worker)s answers, but runs no job: its event loop is stuck.") % {"worker": worker.name}
            found.append(bad(text, gettext("Restart it.")))
        elif worker.loop_late_seconds > LATE_SECONDS:
            late = {"worker": worker.name, "time": f"{1000 * worker.loop_late_seconds:.0f} ms"}
            text = gettext("The event loop of %(worker)s is late by %(time)s.") % late
            found.append(warn(text, gettext("Add workers or machines.")))
        if worker.version != settings.VERSION:
            versions = {"worker": worker.name, "version": worker.version, "ours": settings.VERSION}
            text = gettext("%(worker)s runs version %(version)s, and this process %(ours)s.") % versions
            found.append(warn(text, gettext("Restart it on the new version.")))
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
    head = (
        gettext("Worker"),
        gettext("Queues"),
        gettext("Jobs"),
        gettext("Memory"),
        gettext("Up for"),
        gettext("Version"),
    )
    return Table(head, rows)


def _age(started_at: float) -> str:
    now = timezone.now()
    return timesince(now - timedelta(seconds=max(0.0, now.timestamp() - started_at)), now, depth=1)
