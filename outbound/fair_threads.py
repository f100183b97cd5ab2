"""Threads that tenants share. However many calls of one tenant hang, another tenant's next call finds a free thread."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar
from uuid import UUID

from outbound.tenant import NOBODY

R = TypeVar("R")


@dataclass
class Waits:
    """The calls that had to wait for a thread, and how long they did."""

    number: int = 0
    seconds: float = 0.0


@dataclass
class _Call:
    tenant: UUID
    function: Callable[[], Any]
    future: Future[Any] = field(default_factory=Future)
    waits_since: float = 0.0


class FairThreads:
    """A thread pool that lets a tenant use as many threads as are free, so alone at most half of them.

    Further calls of the tenant wait for its own. Waiting tenants take turns. Calls of NOBODY may use all threads.
    Thread-safe.
    """

    def __init__(self, threads: int, *, name: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix=name)
        self._free = threads
        self._running: Counter[UUID] = Counter()
        self._waiting: OrderedDict[UUID, deque[_Call]] = OrderedDict()
        self._lock = Lock()
        self.waits = Waits()

    def submit(self, tenant: UUID, function: Callable[[], R]) -> Future[R]:
        """Run the function in a thread. Canceling the future ends the wait for a thread, not a call that runs."""
        call = _Call(tenant, function)
        with self._lock:
            self._waiting.setdefault(tenant, deque()).append(call)
            self._start_waiting()
            if tenant in self._waiting:
                call.waits_since = time.monotonic()
        return call.future

    def crowded(self, calls: int) -> frozenset[UUID]:
        """The tenants of whose calls at least this many wait for a thread."""
        with self._lock:
            return frozenset(tenant for tenant, waiting in self._waiting.items() if len(waiting) >= calls)

    def _start_waiting(self) -> None:
        """Start calls of each waiting tenant in turn, until none may have another thread."""
        while (tenant := next((each for each in self._waiting if self._has_room(each)), None)) is not None:
            calls = self._waiting.pop(tenant)
            call = calls.popleft()
            if calls:
                # To the end of the line
                self._waiting[tenant] = calls
            if call.waits_since:
                self.waits.number += 1
                self.waits.seconds += time.monotonic() - call.waits_since
            if call.future.set_running_or_notify_cancel():
                self._running[tenant] += 1
                self._free -= 1
                self._pool.submit(self._run, call)

    def _has_room(self, tenant: UUID) -> bool:
        running = self._running.get(tenant, 0)
        return self._free > 0 and (running < self._free or not running or tenant == NOBODY)

    def _run(self, call: _Call) -> None:
        try:
            result = call.function()
        except BaseException as error:  # the thread's boundary: the caller gets it
            self._end(call.tenant)
            call.future.set_exception(error)
        else:
            self._end(call.tenant)
            call.future.set_result(result)

    def _end(self, tenant: UUID) -> None:
        with self._lock:
            self._free += 1
            self._running[tenant] -= 1
            if not self._running[tenant]:
                del self._running[tenant]
            self._start_waiting()
