"""Random faults during a storm."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import redis
from django.conf import settings
from django.db import connections

from tests.processes import Child, ForkServer

WORKERS = 3


@dataclass
class Storm:
    """Kills workers, wipes and restarts Redis, restarts PostgreSQL, and starts dead processes again like a supervisor."""

    processes: ForkServer
    servers: Any
    chance: random.Random
    counts: Counter[str] = field(default_factory=Counter)
    workers: list[Child] = field(default_factory=list)

    def begin(self) -> None:
        self.keep_alive()

    def keep_alive(self) -> None:
        """Restart dead processes."""
        self.workers = [worker for worker in self.workers if worker.is_alive]
        while len(self.workers) < WORKERS:
            self.workers.append(self.processes.worker())

    def strike(self) -> None:
        """Cause one fault."""
        strokes: list[tuple[int, Callable[[], None]]] = [
            (64, self.kill_a_worker),
            (20, self.wipe_redis),
            (8, self.restart_redis),
            (8, self.restart_postgresql),
        ]
        weights, actions = zip(*strokes, strict=True)
        [action] = self.chance.choices(actions, weights)
        self.counts[action.__name__] += 1
        action()
        self.keep_alive()

    def kill_a_worker(self) -> None:
        if self.workers:
            self.chance.choice(self.workers).kill()

    def wipe_redis(self) -> None:
        with suppress(redis.RedisError), redis.Redis.from_url(settings.REDIS_URL) as client:
            client.flushall()

    def restart_redis(self) -> None:
        self.servers.redis.restart()

    def restart_postgresql(self) -> None:
        self.servers.postgres.restart()
        forget_connections()


def forget_connections() -> None:
    """Drop this process's own connections, which a restart has cut."""
    for connection in connections.all(initialized_only=True):
        with suppress(Exception):
            connection.close()
        with suppress(Exception):
            connection.close_pool()
