"""Hints: they are sent at commit, in Celery's format, and may be lost."""

from __future__ import annotations

from types import SimpleNamespace
from uuid import uuid4

import pytest
import redis
from celery import current_app
from django.conf import settings
from kombu import Queue

from jobs import runner
from jobs.celery_strategy import hint_strategy
from jobs.fence import job_tx
from jobs.models import Job, State
from jobs.services import fail_job, run_again
from jobs.sweep import sweep
from tests.jobs.conftest import add, take


def queued_hints() -> int:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        return client.llen("makegood:work")


def test_a_hint_is_sent_only_when_the_transaction_commits(tenant, queue_lane):
    before = queued_hints()
    with pytest.raises(ZeroDivisionError), tenant.tx():
        add(tenant, queue_lane)
        raise ZeroDivisionError
    assert queued_hints() == before
    add(tenant, queue_lane)
    assert queued_hints() == before + 1


def test_finishing_a_job_hints_the_next_job_of_its_subject(tenant, queue_lane):
    """Without it, the next turn would wait for the sweep."""
    subject = uuid4()
    for ordinal in (1, 2):
        add(tenant, queue_lane, subject=subject, ordinal=ordinal)
    [job] = take(queue_lane)
    before = queued_hints()
    with job_tx(job, finish=State.DONE):
        pass
    assert queued_hints() == before + 1


def test_running_a_job_again_sends_a_hint(tenant, queue_lane):
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    fail_job(job, reason="broken")
    before = queued_hints()
    with tenant.tx():
        run_again(tenant.project, job.id)
    assert queued_hints() == before + 1


def test_the_sweep_sends_a_hint_for_due_work(tenant, queue_lane):
    add(tenant, queue_lane)
    before = queued_hints()
    sweep()
    assert queued_hints() == before + 1


def test_a_hint_is_a_celery_message(tenant, queue_lane):
    """Celery's own library reads it as a task with the lane's name and no arguments."""
    add(tenant, queue_lane)
    with current_app.connection_for_read() as broker, broker.channel() as channel:
        messages = list(iter(Queue("work", channel=channel, no_ack=True).get, None))
    newest = messages[-1]
    assert newest.headers["task"] == queue_lane.task_name
    assert newest.payload[:2] == [[], {}]


def test_a_worker_handles_a_hint_in_the_receiving_thread(monkeypatch):
    """Without a request, a pool or an acknowledgement."""
    woken: list[str] = []
    monkeypatch.setattr(runner, "wake", woken.append)
    consumer = SimpleNamespace(event_dispatcher=None)
    take = hint_strategy(SimpleNamespace(name="run_reply"), current_app, consumer)
    take(SimpleNamespace(headers={}), [[], {}, {}], None, None, [])
    assert woken == ["reply"]


def test_monitors_see_hints_by_task_name(monkeypatch):
    told: list[tuple[str, str]] = []
    events = SimpleNamespace(enabled=True, send=lambda kind, **fields: told.append((kind, fields["uuid"])))
    monkeypatch.setattr(runner, "wake", lambda lane: None)
    take = hint_strategy(SimpleNamespace(name="run_reply"), current_app, SimpleNamespace(event_dispatcher=events))
    take(SimpleNamespace(headers={"id": "1", "task": "run_reply"}))
    assert told == [("task-received", "1"), ("task-succeeded", "1")]


def test_a_lost_hint_is_logged_but_not_raised(tenant, queue_lane, servers, caplog):
    servers.redis.kill()
    try:
        add(tenant, queue_lane)
    finally:
        servers.redis.start()
    with tenant.tx():
        assert Job.objects.count() == 1
    assert "was lost" in caplog.text


def test_the_sweep_returns_the_lanes_with_due_work(tenant, queue_lane):
    add(tenant, queue_lane)
    assert queue_lane.name in sweep()
