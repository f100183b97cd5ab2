"""Hints may be lost (design section 3, points 1 and 5)."""

from __future__ import annotations

import pytest
import redis
from django.conf import settings

from jobs.models import Job
from jobs.sweep import sweep
from tests.jobs.conftest import add


def queued_hints() -> int:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        return client.llen("makegood:work")


def test_a_hint_goes_out_only_when_the_transaction_commits(tenant, queue_lane):
    before = queued_hints()
    with pytest.raises(ZeroDivisionError), tenant.tx():
        add(tenant, queue_lane)
        raise ZeroDivisionError
    assert queued_hints() == before
    add(tenant, queue_lane)
    assert queued_hints() == before + 1


def test_a_lost_hint_is_logged_and_never_raised(tenant, queue_lane, servers, caplog):
    servers.redis.kill()
    try:
        add(tenant, queue_lane)
    finally:
        servers.redis.start()
    with tenant.tx():
        assert Job.objects.count() == 1
    assert "was lost" in caplog.text


def test_the_sweep_names_the_lanes_that_wait(tenant, queue_lane):
    add(tenant, queue_lane)
    assert queue_lane.name in sweep()
