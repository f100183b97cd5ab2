"""Group commit for flows that run in parallel in one conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from conversations.live.event_log import ConversationLog, job_log
from jobs.fence import prove
from jobs.lanes import ClaimedJob
from jobs.models import State
from telemetry.place import Place, at, current_place
from tenancy.threads import in_db

Write = Callable[[ConversationLog], None]


@dataclass(frozen=True, eq=False)
class _Commit:
    """One flow's write to its conversation, and the state its job ends in."""

    job: ClaimedJob
    write: Write
    finish: State | None
    future: asyncio.Future[None]
    # Jobs that the write queues belong to the flow's trace, whichever flow writes.
    place: Place


@dataclass(eq=False)
class _Queue:
    """The queue of commits of one conversation. The event loop appends; the writing thread removes."""

    waiting: list[_Commit] = field(default_factory=list)
    writing: Sequence[_Commit] = ()


_queues: dict[tuple[asyncio.AbstractEventLoop, UUID], _Queue] = {}
_writers: set[asyncio.Task[None]] = set()


async def commit(job: ClaimedJob, write: Write, *, finish: State | None = None) -> None:
    """Let `write` add to the log of the job's conversation, in a transaction that commits only if the job is ours.

    The flows after a reply often finish at the same moment. Only one commit per conversation runs at a time, and it
    includes every write queued by then: one lock, one statement, one message to the streams. If the group fails, each
    write is retried in a transaction of its own. `write` may therefore run twice, and must change nothing but the log
    and objects it creates itself.

    Raises LeaseLost before anything is written, Conversation.DoesNotExist, and any error of `write`.
    """
    loop = asyncio.get_running_loop()
    own = _Commit(job, write, finish, loop.create_future(), current_place())
    key = loop, job.subject_id
    if (queue := _queues.get(key)) is None:
        queue = _queues[key] = _Queue()
        serving = loop.create_task(_drain(key, queue))
        _writers.add(serving)
        serving.add_done_callback(_writers.discard)
    queue.waiting.append(own)
    await own.future


async def _drain(key: tuple[asyncio.AbstractEventLoop, UUID], queue: _Queue) -> None:
    """Write queued commits until none is left. A cancelled caller does not affect the others."""
    try:
        while queue.waiting:
            for one, error in await in_db(_write_waiting, queue):
                _end(one, error)
    except Exception as error:  # the thread failed: report it to every waiting caller
        for one in (*queue.writing, *queue.waiting):
            _end(one, error)
    finally:
        del _queues[key]


def _end(one: _Commit, error: Exception | None) -> None:
    if one.future.done():
        return
    if error is None:
        one.future.set_result(None)
    else:
        one.future.set_exception(error)


def _write_waiting(queue: _Queue) -> list[tuple[_Commit, Exception | None]]:
    """Write every queued commit, and return each with its error, if any.

    They are sorted by lane, so that the same flows always produce the same SQL statement.
    """
    waiting = list(queue.waiting)
    del queue.waiting[: len(waiting)]
    writing = queue.writing = sorted(
        (one for one in waiting if not one.future.cancelled()), key=lambda one: one.job.lane
    )
    error = _attempt(writing) if writing else None
    if error is None or len(writing) == 1:
        return [(one, error) for one in writing]
    return [(one, _attempt([one])) for one in writing]


def _attempt(commits: Sequence[_Commit]) -> Exception | None:
    """Write commits in one transaction. Return the error that rolled all of them back, if any."""
    first, *others = commits
    try:
        with job_log(first.job, first.job.subject_id, finish=first.finish) as log:
            _write(first, log)
            for one in others:
                prove(one.job, finish=one.finish)
                _write(one, log)
    except Exception as error:  # passed on to the flow
        return error
    return None


def _write(commit: _Commit, log: ConversationLog) -> None:
    with at(commit.place):
        commit.write(log)
