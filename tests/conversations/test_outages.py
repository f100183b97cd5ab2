"""Outages of each service during a conversation: it recovers by itself and loses nothing."""

from __future__ import annotations

import signal

import pytest
import redis
from django.conf import settings
from django.db import connections

from jobs.models import Job, State
from tests.conversations.conftest import begin
from tests.crashes.invariants import check, settle
from tests.processes import until

pytestmark = pytest.mark.short_leases


@pytest.fixture
def two_workers(processes):
    return processes.worker(queues="replies"), processes.worker(queues="work")


def play(tenant, model, *, guests: int = 6, turns: int = 2) -> None:
    model.latency(ttft_ms=60, gap_ms=2)
    talks = [begin(tenant, external_id=f"guest {number}") for number in range(guests)]
    for _ in range(turns):
        for talk in talks:
            talk.say("Could you text me the opening hours?")


def test_a_redis_wipe_loses_nothing(tenant, two_workers, model):
    play(tenant, model)
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        for _ in range(3):
            client.flushall()
            play(tenant, model, turns=1)
    settle(tenant)
    check(tenant)


def test_a_redis_restart_loses_nothing(tenant, processes, two_workers, servers, model):
    """A worker ended by a Redis restart is replaced by the supervisor; here by hand."""
    play(tenant, model)
    servers.redis.restart()
    play(tenant, model, turns=1)
    for worker, queues in zip(two_workers, ("replies", "work"), strict=True):
        if not worker.is_alive:
            processes.worker(queues=queues)
    settle(tenant)
    check(tenant)


def test_a_worker_that_starts_without_redis_works(tenant, processes, servers, model):
    servers.redis.kill()
    try:
        worker = processes.worker()
        play(tenant, model, guests=2, turns=1)
        settle(tenant)
    finally:
        servers.redis.start()
    check(tenant)
    assert worker.is_alive


def test_a_worker_survives_a_redis_that_refuses_writes(tenant, processes, model):
    """As Redis does while its disk is full, and on a server that became a replica."""
    worker = processes.worker()
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.config_set("min-replicas-to-write", 1)
        try:
            until(lambda: "NOREPLICAS" in worker.log.read_text(), what="the refusal")
            play(tenant, model, guests=2, turns=1)
            settle(tenant)
        finally:
            client.config_set("min-replicas-to-write", 0)
    check(tenant)
    assert worker.is_alive


def test_a_postgresql_crash_loses_no_accepted_message(tenant, two_workers, servers, model):
    play(tenant, model)
    servers.postgres.restart()
    for connection in connections.all():
        connection.close()
        connection.close_pool()
    settle(tenant)
    check(tenant)


def test_a_stopping_worker_requeues_its_jobs_uncounted(tenant, processes, model):
    model.script("reply", times=1, ttft_ms=30_000)
    leaving = processes.worker()
    talk = begin(tenant)
    turn = talk.say("Hello")
    until(lambda: model.requests("reply"), what="the slow call")
    leaving.signal(signal.SIGTERM)
    leaving.wait(seconds=30)
    with tenant.tx():
        job = Job.objects.get(lane="reply")
        assert (job.state, job.attempts) == (State.QUEUED, 0)
    processes.worker()
    talk.until_turn(turn, lambda now: now["status"] == "done")


def test_a_worker_paused_past_its_lease_writes_nothing(tenant, processes, model):
    """SIGSTOP past the lease, then SIGCONT: its result is refused, the other worker's is kept."""
    frozen = processes.worker()
    model.script("reply", times=1, text="From the frozen one", ttft_ms=800)
    talk = begin(tenant)
    turn = talk.say("Hello")
    until(lambda: model.requests("reply"), what="the first call")
    frozen.signal(signal.SIGSTOP)
    model.script("reply", times=1, text="From the other one")
    processes.worker()
    talk.until_turn(turn, lambda now: now["status"] == "done")
    frozen.signal(signal.SIGCONT)
    settle(tenant)
    check(tenant)
    assert talk.turn(turn)["reply"]["content"] == "From the other one"


def test_no_connection_is_held_during_model_calls(tenant, processes, model):
    """Forty calls in flight without an open transaction, and no more connections than database threads."""
    model.script("reply", times=0, ttft_ms=30_000)
    processes.worker()
    talks = [begin(tenant, external_id=f"guest {number}") for number in range(40)]
    for talk in talks:
        talk.say("Hello")
    until(lambda: model.log()["in_flight"] == 40, what="forty calls in flight")
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "select count(*) filter (where state like 'idle in transaction%%' or state = 'active'), count(*) from pg_stat_activity"
            " where application_name = 'makegood mg_app' and pid <> pg_backend_pid()"
        )
        busy, all_of_them = cursor.fetchone()
    assert busy == 0
    assert all_of_them <= 8  # four database threads of the worker, and this process
    processes.kill_children()
