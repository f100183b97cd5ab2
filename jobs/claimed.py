"""A job in a worker's hands."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class ClaimedJob:
    """What a worker knows of the job it runs. `token` proves that it is still the one who runs it."""

    id: UUID
    organization_id: UUID
    lane: str
    subject_id: UUID
    ordinal: int
    key: str
    token: int
    attempt: int
    max_attempts: int

    @property
    def ran_before(self) -> bool:
        """Whether a worker had it in its hands before, so that something of it may be stored."""
        return self.token > 1

    @property
    def is_last_attempt(self) -> bool:
        return self.attempt >= self.max_attempts
