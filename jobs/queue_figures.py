"""The state of the queues, of all tenants together: what waits, how long, and what failed. Uses mg_ops."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import DatabaseError, connections
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from jobs.lanes import lane_of, lanes
from jobs.models import State

# Counting more would make a scrape slow in the one hour when it has to be quick.
MOST_COUNTED = 50_000
KEPT_SECONDS = 5.0

# The partial indexes of queued, running and failed jobs serve one part each.
_FIGURES = """
select l.name, queued.n, queued.age, (select count(*) from jobs_job r where r.state = 'running' and r.lane = l.name),
       (select count(*) from failed f where f.lane = l.name)
from unnest(%(lanes)s::text[]) as l(name)
cross join lateral (
    select count(*) as n, coalesce(extract(epoch from clock_timestamp() - min(w.run_after)), 0) as age
    from (select run_after from jobs_job where lane = l.name and state = 'queued' order by fair_at limit {most}) w) queued
"""
_WITH_FAILED = "with failed as materialized (select lane from jobs_job where state = 'failed' limit {most}) "
_STATEMENT = (_WITH_FAILED + _FIGURES).format(most=MOST_COUNTED)


@dataclass(frozen=True)
class LaneFigures:
    """The jobs of one lane. Counts end at MOST_COUNTED.

    `oldest_due_seconds` is the time since the oldest job that waits was due, or 0 if none is.
    """

    lane: str
    queued: int
    running: int
    failed: int
    oldest_due_seconds: float


def read_lanes() -> list[LaneFigures]:
    """The figures of every lane, also of empty ones. Raises DatabaseError."""
    with connections["ops"].cursor() as cursor:
        cursor.execute(_STATEMENT, {"lanes": [lane.name for lane in lanes()]})
        rows = cursor.fetchall()
    return [
        LaneFigures(lane, queued, running, failed, max(0.0, float(age))) for lane, queued, age, running, failed in rows
    ]


class _Kept:
    """The figures of the last seconds, so that many scrapes are one query."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read_at = -KEPT_SECONDS
        self._lanes: list[LaneFigures] | None = None

    def lanes(self) -> list[LaneFigures] | None:
        """The figures, or None while the database doesn't answer."""
        with self._lock:
            if time.monotonic() - self._read_at >= KEPT_SECONDS:
                self._lanes = _try_to_read()
                self._read_at = time.monotonic()
            return self._lanes


_kept = _Kept()


def _try_to_read() -> list[LaneFigures] | None:
    try:
        return read_lanes()
    except DatabaseError:
        return None
    finally:
        connections["ops"].close()


JOBS, OLDEST_DUE, DATABASE_UP = "makegood_jobs", "makegood_jobs_oldest_due_seconds", "makegood_database_up"


def queue_metrics() -> Iterable[Metric]:
    """The figures as metrics, at most KEPT_SECONDS old. Every process tells the same."""
    up = GaugeMetricFamily(DATABASE_UP, "1 if PostgreSQL answers")
    jobs = GaugeMetricFamily(JOBS, "Jobs that wait, run or failed", labels=("queue", "lane", "state"))
    oldest = GaugeMetricFamily(OLDEST_DUE, "Time since the oldest job that waits was due", labels=("queue", "lane"))
    found = _kept.lanes()
    up.add_metric((), 0 if found is None else 1)
    for figures in found or ():
        queue = lane_of(figures.lane).queue.value
        for state in (State.QUEUED, State.RUNNING, State.FAILED):
            jobs.add_metric((queue, figures.lane, state.value), getattr(figures, state.value))
        oldest.add_metric((queue, figures.lane), figures.oldest_due_seconds)
    return (up, jobs, oldest)
