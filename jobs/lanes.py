"""Lanes: kinds of work, with their queue, lease, deadline and handler.

Apps of higher rooms register their lanes in `ready`. This room doesn't know them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from django.conf import settings


class Queue(StrEnum):
    """The Celery queues. Replies have their own, so that nothing slow delays them."""

    REPLIES = "replies"
    WORK = "work"


class Mode(StrEnum):
    """The effect of a newer job on older ones of the same subject."""

    QUEUE = "queue"
    INTERRUPT = "interrupt"


@dataclass(frozen=True)
class ClaimedJob:
    """A job that a worker has claimed. `token` proves that it still holds the job."""

    id: UUID
    organization_id: UUID
    lane: str
    subject_id: UUID
    ordinal: int
    key: str
    token: int
    attempt: int
    max_attempts: int
    # The trace that caused the job
    trace: str = ""

    @property
    def ran_before(self) -> bool:
        """True if the job was claimed before, so that partial results may be stored."""
        return self.token > 1

    @property
    def cause_id(self) -> UUID:
        """The id that follows the lane in the job's key: an effect's, or an approval's."""
        return UUID(self.key.split(":")[1])

    @property
    def is_last_attempt(self) -> bool:
        return self.attempt >= self.max_attempts


Handler = Callable[[ClaimedJob], Awaitable[None]]
# Locks a subject for the rest of the current transaction.
SubjectLock = Callable[[UUID], None]
# Called with the reason, in the transaction that marks the job as failed.
FailureHandler = Callable[[ClaimedJob, str], None]
# Called with the subject and ordinal, in the transaction that requeues a failed job. May raise WrongState.
RerunHandler = Callable[[UUID, int], None]


@dataclass(frozen=True)
class Lane:
    """A kind of work. `lease` is the time a worker may be silent, `deadline` the time limit of one attempt.

    `slots` is the number of jobs that a worker process runs at once (see `jobs.slots`).

    `lock` locks the subject before its job, for the changes of `on_failed` and `on_run_again`. `task` is the lane's
    Celery task, by default `run_<name>`.
    """

    name: str
    queue: Queue
    mode: Mode
    handler: Handler = field(repr=False)
    lease: timedelta = timedelta(seconds=30)
    deadline: timedelta = timedelta(seconds=120)
    max_attempts: int = 5
    slots: int = 128
    lock: SubjectLock | None = field(default=None, repr=False)
    on_failed: FailureHandler | None = field(default=None, repr=False)
    on_run_again: RerunHandler | None = field(default=None, repr=False)
    task: str = ""
    # A job of it lasts as long as a connection: a worker that stops hands it on at once.
    is_handed_on: bool = False

    @property
    def lease_seconds(self) -> float:
        """The lane's lease, unless the operator sets one for all lanes."""
        return settings.LEASE_SECONDS or self.lease.total_seconds()

    @property
    def task_name(self) -> str:
        """The Celery task that wakes workers for this lane."""
        return self.task or f"run_{self.name}"


_lanes: dict[str, Lane] = {}


class UnknownLane(KeyError):
    """No app has registered this lane."""


def register_lanes(*added: Lane) -> None:
    """Register the lanes of an app. Called once, from its `ready`."""
    _lanes.update((lane.name, lane) for lane in added)


def lane_of(name: str) -> Lane:
    """The lane with this name. Raises UnknownLane."""
    try:
        return _lanes[name]
    except KeyError as error:
        raise UnknownLane(f"No app has registered the lane {name!r}.") from error


def lanes(*, queues: frozenset[str] | None = None) -> Iterator[Lane]:
    """All lanes, or those of some queues."""
    return (lane for lane in _lanes.values() if queues is None or lane.queue in queues)


def lane_of_task(task_name: str) -> Lane:
    """The lane of a Celery task. Raises UnknownLane."""
    for lane in _lanes.values():
        if lane.task_name == task_name:
            return lane
    raise UnknownLane(f"No lane is hinted at by the task {task_name!r}.")
