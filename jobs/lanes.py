"""Lanes: the kinds of work, and how each is claimed.

A higher floor registers its lanes when the apps are ready; this floor knows nothing of what they do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from django.conf import settings


class Queue(StrEnum):
    """The two kinds of worker: replies have their own, so that nothing slow delays them."""

    REPLIES = "replies"
    WORK = "work"


class Mode(StrEnum):
    """What a newer job does to an older one of the same subject."""

    QUEUE = "queue"
    INTERRUPT = "interrupt"


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


Handler = Callable[[ClaimedJob], Awaitable[None]]
# Locks a subject for the rest of the running transaction.
SubjectLock = Callable[[UUID], None]
# Called in the transaction that marks the job failed, with the reason.
FailureHandler = Callable[[ClaimedJob, str], None]
# Called in the transaction that queues a failed job again, with its subject and ordinal; may refuse with WrongState.
RerunHandler = Callable[[UUID, int], None]


@dataclass(frozen=True)
class Lane:
    """One kind of work. `lease` is how long a worker may be silent, `deadline` how long one attempt may take.

    `lock` locks the subject, before its job, for what `on_failed` and `on_run_again` do to it. `task` is the name of the Celery
    task that hints at the lane, where it isn't `run_<name>`.
    """

    name: str
    queue: Queue
    mode: Mode
    handler: Handler = field(repr=False)
    lease: timedelta = timedelta(seconds=30)
    deadline: timedelta = timedelta(seconds=120)
    max_attempts: int = 5
    lock: SubjectLock | None = field(default=None, repr=False)
    on_failed: FailureHandler | None = field(default=None, repr=False)
    on_run_again: RerunHandler | None = field(default=None, repr=False)
    task: str = ""

    @property
    def lease_seconds(self) -> float:
        """The lane's lease, or the operator's for all lanes."""
        return settings.LEASE_SECONDS or self.lease.total_seconds()

    @property
    def task_name(self) -> str:
        """The Celery task that hints at this lane, in the product's words."""
        return self.task or f"run_{self.name}"


_lanes: dict[str, Lane] = {}


class UnknownLane(KeyError):
    """No app has registered this lane."""


def register(lane: Lane) -> None:
    """Make a lane known. Called once per lane from an app's `ready`."""
    _lanes[lane.name] = lane


def lane_of(name: str) -> Lane:
    """The lane of this name. Raises UnknownLane."""
    try:
        return _lanes[name]
    except KeyError as error:
        raise UnknownLane(f"No app has registered the lane {name!r}.") from error


def lanes(*, queues: frozenset[str] | None = None) -> Iterator[Lane]:
    """All lanes, or those of some queues."""
    return (lane for lane in _lanes.values() if queues is None or lane.queue in queues)


def lane_of_task(task_name: str) -> Lane:
    """The lane that a Celery task hints at. Raises UnknownLane."""
    for lane in _lanes.values():
        if lane.task_name == task_name:
            return lane
    raise UnknownLane(f"No lane is hinted at by the task {task_name!r}.")
