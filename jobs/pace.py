"""The pace of a worker process at one tenant's jobs, by how late its event loop is.

Slots bound the jobs that wait for a model or an endpoint. A process can compute fewer at once: a hundred answers that
arrive together keep its loop busy for half a second and delay another tenant's reply by as much. So a tenant's share
grows while the loop is on time and is halved when it is late. Few tenants ever meet it, because it counts only above
FEWEST jobs at once.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from uuid import UUID

from jobs.lanes import ClaimedJob

LOOK_SECONDS = 0.02
LATE_SECONDS = 0.02
FEWEST = 8
START = 16
# Doubles the share in 0.7 seconds
GROWTH = 1.02
# After this time without a job of another tenant, a tenant is alone
ALONE_SECONDS = 30.0


class Pace:
    """A process's jobs by tenant, and the number that one tenant may have at once."""

    def __init__(self, *, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = max(START, most)
        self._held: Counter[UUID] = Counter()
        self._begun: set[UUID] = set()
        self.share = float(START)
        self._clock = clock
        self._last_tenant: UUID | None = None
        self._changed_at = -ALONE_SECONDS

    @property
    def is_shared(self) -> bool:
        """True if tenants took turns in the last seconds."""
        return self._clock() - self._changed_at < ALONE_SECONDS

    @property
    def heaviest(self) -> int:
        """The number of jobs of the tenant that has most."""
        return max(self._held.values(), default=0)

    @property
    def is_tested(self) -> bool:
        """True while a tenant has enough jobs to make others wait."""
        return self.is_shared and self.heaviest >= FEWEST

    @property
    def most_to_claim(self) -> int:
        """The most jobs of a lane per claim, which may all be one tenant's, in several lanes. A power of two, so that
        there are few different statements.
        """
        return 1 << (int(self.share if self.is_shared else self._most) // 4).bit_length() - 1

    def full_tenants(self) -> frozenset[UUID]:
        """The tenants that may not begin another job."""
        if not self.is_shared:
            return frozenset()
        return frozenset(tenant for tenant, held in self._held.items() if held >= self.share)

    def take(self, job: ClaimedJob) -> None:
        """Count a job that begins, once."""
        if job.id not in self._begun:
            self._begun.add(job.id)
            self._held[job.organization_id] += 1
            if self._last_tenant not in (None, job.organization_id):
                self._changed_at = self._clock()
            self._last_tenant = job.organization_id

    def give_back(self, job: ClaimedJob) -> None:
        if job.id in self._begun:
            self._begun.remove(job.id)
            self._held[job.organization_id] -= 1
            if not self._held[job.organization_id]:
                del self._held[job.organization_id]

    def look(self, late_seconds: float, *, crowded: frozenset[UUID] = frozenset()) -> None:
        """Adapt the share to a loop that is this late. Called every LOOK_SECONDS while a tenant has many jobs.

        It doesn't grow while some tenants' work waits for the database's threads.
        """
        if not self.is_tested:
            self.share = float(START)
        elif late_seconds > LATE_SECONDS:
            self.share = max(FEWEST, min(self.share, self.heaviest) / 2)
        elif self.heaviest >= self.share / 2 and not crowded:
            # A share that nobody needs says nothing about what the process can do
            self.share = min(self._most, self.share * GROWTH)


class LoopWatch:
    """Compares the running loop with the clock while a tenant has many jobs.

    Calls `on_room` when tenants that were full may begin jobs again. `crowded` names the tenants whose work waits for
    the database's threads.
    """

    def __init__(self, pace: Pace, *, crowded: Callable[[], frozenset[UUID]], on_room: Callable[[], None]) -> None:
        self._pace = pace
        self._crowded = crowded
        self._on_room = on_room
        self._is_on = False
        self._loop = asyncio.get_running_loop()

    def begin(self) -> None:
        """Watch until no tenant has many jobs. Idempotent."""
        if self._pace.is_tested and not self._is_on:
            self._is_on = True
            self._loop.call_later(LOOK_SECONDS, self._compare, self._loop.time() + LOOK_SECONDS)

    def _compare(self, due_at: float) -> None:
        self._is_on = False
        full = self._pace.full_tenants()
        self._pace.look(self._loop.time() - due_at, crowded=self._crowded())
        if full - self._pace.full_tenants():
            self._on_room()
        self.begin()
