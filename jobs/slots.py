"""The slots of a worker process: the number of jobs of a lane that it runs at once, in all and of one tenant.

A tenant may hold as many slots as are free: a single tenant half of them, n tenants one (n+1)th each. So a tenant
without competition uses much of the process, and the next tenant finds a free slot at once. The rule needs nothing
but the process's own jobs, so it holds for any number of processes.

Tenants with a model endpoint of their own have separate slots, so that their slow models never take the slots of the
others.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from uuid import UUID

from jobs.claims import with_own_model
from jobs.lanes import ClaimedJob, Lane

# A tenant that changes its endpoint takes the other slots after this time
KNOWN_FOR_SECONDS = 2.0


class OwnModels:
    """The tenants with a model endpoint of their own, as read in the last seconds."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._own: frozenset[UUID] = frozenset()
        self._read_at: dict[UUID, float] = {}

    def read(self, organizations: Iterable[UUID]) -> None:
        """Read those that weren't read lately, and again those with an own model. Uses mg_ops."""
        now = self._clock()
        recent = {each: at for each, at in self._read_at.items() if now - at < KNOWN_FOR_SECONDS}
        if unread := {*organizations, *self._own} - recent.keys():
            self._own = self._own - unread | with_own_model(sorted(unread))
            self._read_at = recent | dict.fromkeys(unread, now)

    def has(self, organization: UUID) -> bool:
        return organization in self._own

    def all(self) -> frozenset[UUID]:
        return self._own


class Pool:
    """Slots that tenants share."""

    def __init__(self, slots: int) -> None:
        self.free = slots
        self._held: Counter[UUID] = Counter()

    def take(self, tenant: UUID) -> None:
        self.free -= 1
        self._held[tenant] += 1

    def give_back(self, tenant: UUID) -> None:
        self.free += 1
        self._held[tenant] -= 1
        if not self._held[tenant]:
            del self._held[tenant]

    def full_tenants(self) -> frozenset[UUID]:
        """The tenants that may not take another slot."""
        return frozenset(tenant for tenant, held in self._held.items() if held >= self.free)


class Slots:
    """The slots of one lane."""

    def __init__(self, lane: Lane, own_models: OwnModels) -> None:
        self._shared = Pool(lane.slots)
        self._own = Pool(max(1, lane.slots // 2))
        self._own_models = own_models
        self._taken: dict[UUID, Pool] = {}

    @property
    def has_room(self) -> bool:
        return self._shared.free > 0

    @property
    def most_to_claim(self) -> int:
        """A claim takes at most half of what is free, which may all be one tenant's. A power of two, so that there are
        few different statements.
        """
        return 1 << max(0, (self._shared.free // 2).bit_length() - 1)

    @property
    def is_short(self) -> bool:
        """True if a job may have to wait for the end of another."""
        return not self.has_room or bool(self.held_back())

    def held_back(self) -> frozenset[UUID]:
        """The tenants whose jobs wait, although there is room for others."""
        full = self._shared.full_tenants() | self._own.full_tenants()
        return full if self._own.free > 0 else full | self._own_models.all()

    def take(self, job: ClaimedJob) -> None:
        """Count a job that begins, once."""
        if job.id not in self._taken:
            pool = self._own if self._own_models.has(job.organization_id) else self._shared
            pool.take(job.organization_id)
            self._taken[job.id] = pool

    def give_back(self, job: ClaimedJob) -> None:
        if (pool := self._taken.pop(job.id, None)) is not None:
            pool.give_back(job.organization_id)
