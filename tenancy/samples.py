"""Samples of the connection pools and of the threads that use them."""

from __future__ import annotations

from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

from telemetry.metrics import DB_CONNECTIONS, POOL_WAIT_SECONDS, POOL_WAITS, THREAD_WAIT_SECONDS, THREAD_WAITS
from telemetry.sampling import Growth
from tenancy.threads import thread_waits

MILLISECONDS = 1000


class DatabaseSample:
    """The figures of each pool that was opened, by its PostgreSQL role, and of the threads."""

    def __init__(self) -> None:
        self._growth = Growth()

    def __call__(self) -> None:
        for alias in connections:
            wrapper = connections[alias]
            # Pools belong to the process, wrappers to a thread.
            pool = vars(DatabaseWrapper)["_connection_pools"].get(alias)
            if pool is not None:
                self._pool(str(wrapper.settings_dict["USER"]), pool.get_stats())
        for name, waits in thread_waits().items():
            THREAD_WAITS.inc(name, by=self._growth.of(f"{name} waits", waits.number))
            THREAD_WAIT_SECONDS.inc(name, by=self._growth.of(f"{name} seconds", waits.seconds))

    def _pool(self, role: str, stats: dict[str, int]) -> None:
        size, free = stats.get("pool_size", 0), stats.get("pool_available", 0)
        DB_CONNECTIONS.set(size - free, role, "used")
        DB_CONNECTIONS.set(free, role, "free")
        POOL_WAITS.inc(role, by=self._growth.of(f"{role} waits", stats.get("requests_queued", 0)))
        seconds = stats.get("requests_wait_ms", 0) / MILLISECONDS
        POOL_WAIT_SECONDS.inc(role, by=self._growth.of(f"{role} seconds", seconds))
