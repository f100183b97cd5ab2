"""Transactions that only read, on a replica whose lag is known and small, or else on the primary.

Reports and downloads read much and need no row of the last second. A page that shows what somebody just changed reads
from the primary.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connections
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from tenancy.postgresql.prepared import reports_alias
from tenancy.scope import tenant_tx

log = logging.getLogger(__name__)

REPLICA = "replica"
LAG = "makegood_replica_lag_seconds"
# A measurement serves this long, and a replica that doesn't answer is left alone for longer.
FRESH_SECONDS, RETRY_SECONDS = 2.0, 10.0
# How often and how long to wait for a replica that is only milliseconds behind.
LOOKS, LOOK_SECONDS = 4, 0.01
MOST_SAMPLES = 300
WRITTEN = "select pg_current_wal_lsn() - '0/0'::pg_lsn"
REPLAYED = "select coalesce(pg_last_wal_replay_lsn(), pg_current_wal_lsn()) - '0/0'::pg_lsn"


class Lag:
    """The age of the replica's data, measured by positions in the write-ahead log. Thread-safe.

    What the primary had written at some time, and the replica has replayed, is the replica's state of at least that time.
    No clock but this process's is read, and a replica that lost its primary is noticed.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._samples: deque[tuple[float, int]] = deque(maxlen=MOST_SAMPLES)
        self._measured_at = -RETRY_SECONDS
        self._is_lost = False
        self._known_until: float | None = None

    def seconds(self) -> float | None:
        """Seconds that the replica is behind, at most; None if it doesn't answer or nothing is known yet."""
        with self._lock:
            now = time.monotonic()
            if now - self._measured_at >= (RETRY_SECONDS if self._is_lost else FRESH_SECONDS):
                self._measure()
                self._measured_at = time.monotonic()
            return None if self._known_until is None else time.monotonic() - self._known_until

    def lose(self) -> None:
        """Forget a replica that failed, for a while."""
        with self._lock:
            self._is_lost, self._known_until, self._measured_at = True, None, time.monotonic()

    def _measure(self) -> None:
        try:
            self._samples.append((time.monotonic(), _number(WRITTEN, using="default")))
            replayed = self._replayed()
        except DatabaseError as error:
            if not self._is_lost:
                log.warning("The replica does not answer (%s); its pages read from the primary.", type(error).__name__)
            self._is_lost, self._known_until = True, None
            connections[REPLICA].close()
            return
        self._is_lost = False
        self._known_until = max((at for at, written in self._samples if written <= replayed), default=None)

    def _replayed(self) -> int:
        """The replica's position, after a moment if it is about to reach the newest of the primary."""
        newest = self._samples[-1][1]
        for _ in range(LOOKS):
            replayed = _number(REPLAYED, using=REPLICA)
            if replayed >= newest:
                break
            time.sleep(LOOK_SECONDS)
        return replayed


def _number(sql: str, *, using: str) -> int:
    with connections[using].cursor() as cursor:
        cursor.execute(sql)
        return int(cursor.fetchone()[0])


lag = Lag()


def replica_lag_seconds() -> float | None:
    """The replica's lag for display; None without a replica, or if it is unknown."""
    return lag.seconds() if REPLICA in settings.DATABASES else None


def replica_metrics() -> Iterable[Metric]:
    """The lag as a metric, without a value while it is unknown. No metric without a replica."""
    if REPLICA not in settings.DATABASES:
        return
    metric = GaugeMetricFamily(LAG, "Most that the replica for reports is behind")
    if (behind := lag.seconds()) is not None:
        metric.add_metric((), behind)
    yield metric


@contextmanager
def report_tx(organization_id: UUID) -> Iterator[None]:
    """A tenant's transaction for reports: on the replica if its lag is at most `MAKEGOOD_REPLICA_LAG_SECONDS`.

    Write nothing inside; a replica would refuse it. A failure of the replica is raised, and the next transactions are on
    the primary.
    """
    behind = replica_lag_seconds()
    if behind is None or behind > settings.REPLICA_LAG_SECONDS:
        with tenant_tx(organization_id):
            yield
        return
    token = reports_alias.set(REPLICA)
    try:
        with tenant_tx(organization_id, using=REPLICA):
            yield
    except (OperationalError, InterfaceError):
        lag.lose()
        raise
    finally:
        reports_alias.reset(token)


def reports_connection() -> Any:
    """The connection of the running transaction for reports, or the default one."""
    return connections[reports_alias.get()]


class ReplicaRouter:
    """Sends the queries of `report_tx` to the server of its transaction."""

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        return REPLICA if reports_alias.get() == REPLICA else None
