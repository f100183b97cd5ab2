"""Commits of one conversation that wait for each other: one transaction for all, or each by itself, as if it had come alone."""

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
    """What a flow can't write."""


@pytest.fixture
def jobs(tenant: Tenant, talk: Talk) -> dict[str, ClaimedJob]:
    """A turn's four jobs in a worker's hands."""
    turn = talk.say("A table for four, please.")
    with tenant.tx():
        enqueue(
            [JobRequest(lane, tenant.project.pk, talk.conversation.pk, turn.seq, key=f"{lane}:1") for lane in LANES]
        )
    return {job.lane: job for job in claim([lane_of(lane) for lane in LANES], limit=8)}


def telling(idn: str) -> Write:
    """A write that adds one event, with the transaction it came in."""

    def write(log: ConversationLog) -> None:
        with connection.cursor() as cursor:
            cursor.execute("select pg_current_xact_id()::text")
            log.add_event(idn, payload={"transaction": cursor.fetchone()[0]})

    return write


def breaking(log: ConversationLog) -> None:
    log.add_event("never", payload={})
    raise Broken


def together(jobs: dict[str, ClaimedJob], writes: dict[str, Write], *, cancelled: str = "") -> list[Any]:
    """Commits that come while the summary's is being written. Returns how each ended."""
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


def told(tenant: Tenant, *lanes: str) -> list[Event]:
    with tenant.tx():
        return list(Event.objects.filter(idn__in=lanes).order_by("seq"))


def states(tenant: Tenant) -> dict[str, str]:
    with tenant.tx():
        return dict(Job.objects.filter(lane__in=WAITERS).values_list("lane", "state"))


def test_those_that_wait_are_written_in_one_transaction(tenant, jobs):
    ends = together(jobs, {lane: telling(lane) for lane in WAITERS})
    events = told(tenant, *WAITERS)
    assert ends == [None] * 3
    assert [event.idn for event in events] == list(WAITERS)
    assert len({event.payload["transaction"] for event in events}) == 1
    assert set(states(tenant).values()) == {"done"}


def test_the_numbers_of_their_events_follow_each_other(tenant, talk, jobs):
    """What a stream is told has no gap."""
    together(jobs, {lane: telling(lane) for lane in WAITERS})
    numbers = [event.seq for event in told(tenant, *WAITERS)]
    assert numbers == list(range(numbers[0], numbers[0] + 3))
    with tenant.tx():
        assert Conversation.objects.get(pk=talk.conversation.pk).last_event == numbers[-1]


def test_one_that_cannot_be_written_stops_no_other(tenant, jobs):
    ends = together(jobs, {lane: telling(lane) for lane in WAITERS} | {"thoughts": breaking})
    assert [type(end) for end in ends] == [type(None), Broken, type(None)]
    assert [event.idn for event in told(tenant, *WAITERS, "never")] == ["observer", "tool_caller"]
    assert states(tenant) == {"observer": "done", "thoughts": "running", "tool_caller": "done"}


def test_one_that_lost_its_job_writes_nothing(tenant, jobs):
    """Each proves for itself that its job is still its own."""
    with tenant.tx():
        Job.objects.filter(lane="thoughts").update(token=9)
    ends = together(jobs, {lane: telling(lane) for lane in WAITERS})
    assert [type(end) for end in ends] == [type(None), LeaseLost, type(None)]
    assert [event.idn for event in told(tenant, *WAITERS)] == ["observer", "tool_caller"]


def test_one_that_is_cancelled_while_it_waits_is_not_written(tenant, jobs):
    together(jobs, {lane: telling(lane) for lane in WAITERS}, cancelled="thoughts")
    assert [event.idn for event in told(tenant, *WAITERS)] == ["observer", "tool_caller"]


def test_one_that_is_cancelled_while_it_is_written_leaves_the_others_their_turn(tenant, jobs):
    assert together(jobs, {"thoughts": telling("thoughts")}, cancelled="summary") == [None]
    assert [event.idn for event in told(tenant, *WAITERS)] == ["thoughts"]
    assert not group_commit._queues


def test_a_database_that_takes_nothing_is_everybodys_failure(tenant, jobs, monkeypatch):
    """No flow waits for ever for a thread that can't write."""

    async def refuse(*_: Any) -> None:
        raise OSError("no thread")

    monkeypatch.setattr(group_commit, "in_db", refuse)

    async def run() -> Sequence[Any]:
        every: list[Awaitable[None]] = [commit(jobs[lane], telling(lane)) for lane in WAITERS]
        return await asyncio.gather(*every, return_exceptions=True)

    assert [type(end) for end in asyncio.run(run())] == [OSError] * 3
    assert not group_commit._queues
