"""Group commits: waiting commits of one conversation share a transaction, with the result of separate ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from threading import Event as Signal
from typing import Any

import pytest
from django.db import connection

from conversations.flows import group_commit
from conversations.flows.group_commit import Write, commit
from conversations.live.event_log import ConversationLog
from conversations.models import Conversation, Event
from jobs.claims import claim
from jobs.enqueue import JobRequest, enqueue
from jobs.fence import LeaseLost
from jobs.lanes import ClaimedJob, lane_of
from jobs.models import Job, State
from tests.conftest import Tenant
from tests.conversations.conftest import Talk

LANES = ("observer", "thoughts", "tool_caller", "summary")
WAITERS = ("observer", "thoughts", "tool_caller")


class Broken(RuntimeError):
    """The error of a flow that can't write."""


@pytest.fixture
def jobs(tenant: Tenant, talk: Talk) -> dict[str, ClaimedJob]:
    """A turn's four jobs, claimed by a worker."""
    turn = talk.say("A table for four, please.")
    with tenant.tx():
        enqueue(
            [JobRequest(lane, tenant.project.pk, talk.conversation.pk, turn.seq, key=f"{lane}:1") for lane in LANES]
        )
    return {job.lane: job for job in claim([lane_of(lane) for lane in LANES], limit=8)}


def add_event_write(idn: str) -> Write:
    """A write that adds one event with the id of its transaction."""

    def write(log: ConversationLog) -> None:
        with connection.cursor() as cursor:
            cursor.execute("select pg_current_xact_id()::text")
            log.add_event(idn, payload={"transaction": cursor.fetchone()[0]})

    return write


def failing_write(log: ConversationLog) -> None:
    log.add_event("never", payload={})
    raise Broken


def commit_together(jobs: dict[str, ClaimedJob], writes: dict[str, Write], *, cancelled: str = "") -> list[Any]:
    """Commit these while the summary's commit is being written. Returns how each ended."""
    begun, go_on = Signal(), Signal()

    def hold(log: ConversationLog) -> None:
        begun.set()
        assert go_on.wait(10)

    async def run() -> list[Any]:
        tasks = {"summary": asyncio.create_task(commit(jobs["summary"], hold, finish=State.DONE))}
        await asyncio.to_thread(begun.wait, 10)
        for lane, write in writes.items():
            tasks[lane] = asyncio.create_task(commit(jobs[lane], write, finish=State.DONE))
        await asyncio.sleep(0)
        if cancelled:
            tasks[cancelled].cancel()
        go_on.set()
        ends = await asyncio.gather(*tasks.values(), return_exceptions=True)
        return ends[1:]

    return asyncio.run(run())


def emitted(tenant: Tenant, *lanes: str) -> list[Event]:
    with tenant.tx():
        return list(Event.objects.filter(idn__in=lanes).order_by("seq"))


def states(tenant: Tenant) -> dict[str, str]:
    with tenant.tx():
        return dict(Job.objects.filter(lane__in=WAITERS).values_list("lane", "state"))


def test_waiting_commits_share_one_transaction(tenant, jobs):
    ends = commit_together(jobs, {lane: add_event_write(lane) for lane in WAITERS})
    events = emitted(tenant, *WAITERS)
    assert ends == [None] * 3
    assert [event.idn for event in events] == list(WAITERS)
    assert len({event.payload["transaction"] for event in events}) == 1
    assert set(states(tenant).values()) == {"done"}


def test_event_numbers_of_a_shared_commit_are_contiguous(tenant, talk, jobs):
    """Streams see no gap."""
    commit_together(jobs, {lane: add_event_write(lane) for lane in WAITERS})
    numbers = [event.seq for event in emitted(tenant, *WAITERS)]
    assert numbers == list(range(numbers[0], numbers[0] + 3))
    with tenant.tx():
        assert Conversation.objects.get(pk=talk.conversation.pk).last_event == numbers[-1]


def test_a_failing_commit_does_not_affect_the_others(tenant, jobs):
    ends = commit_together(jobs, {lane: add_event_write(lane) for lane in WAITERS} | {"thoughts": failing_write})
    assert [type(end) for end in ends] == [type(None), Broken, type(None)]
    assert [event.idn for event in emitted(tenant, *WAITERS, "never")] == ["observer", "tool_caller"]
    assert states(tenant) == {"observer": "done", "thoughts": "running", "tool_caller": "done"}


def test_a_commit_without_its_lease_writes_nothing(tenant, jobs):
    """Each commit proves its own job."""
    with tenant.tx():
        Job.objects.filter(lane="thoughts").update(token=9)
    ends = commit_together(jobs, {lane: add_event_write(lane) for lane in WAITERS})
    assert [type(end) for end in ends] == [type(None), LeaseLost, type(None)]
    assert [event.idn for event in emitted(tenant, *WAITERS)] == ["observer", "tool_caller"]


def test_a_commit_canceled_while_waiting_is_not_written(tenant, jobs):
    commit_together(jobs, {lane: add_event_write(lane) for lane in WAITERS}, cancelled="thoughts")
    assert [event.idn for event in emitted(tenant, *WAITERS)] == ["observer", "tool_caller"]


def test_a_commit_canceled_while_writing_lets_the_others_proceed(tenant, jobs):
    assert commit_together(jobs, {"thoughts": add_event_write("thoughts")}, cancelled="summary") == [None]
    assert [event.idn for event in emitted(tenant, *WAITERS)] == ["thoughts"]
    assert not group_commit._queues


def test_a_database_error_fails_every_waiting_commit(tenant, jobs, monkeypatch):
    """No flow waits for ever for a thread that can't write."""

    async def refuse(*_: Any) -> None:
        raise OSError("no thread")

    monkeypatch.setattr(group_commit, "in_db", refuse)

    async def run() -> Sequence[Any]:
        every: list[Awaitable[None]] = [commit(jobs[lane], add_event_write(lane)) for lane in WAITERS]
        return await asyncio.gather(*every, return_exceptions=True)

    assert [type(end) for end in asyncio.run(run())] == [OSError] * 3
    assert not group_commit._queues
