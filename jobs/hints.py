"""Hints that there is work, and that work is no longer wanted. Losing any of them costs seconds, never work."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from functools import cache

import redis
from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError
from redis.backoff import NoBackoff
from redis.retry import Retry

from jobs.lanes import Queue, lane_of

log = logging.getLogger(__name__)

CANCELLATIONS = "makegood:cancel"

# Set in a worker: takes a lane's name, and says whether this process has room to run it itself.
local_wake: Callable[[str], bool] | None = None


def hint(lanes: Sequence[str]) -> None:
    """Tell some worker that these lanes have work: one message per queue, named after the queue's first lane.

    Whoever hears it looks into all lanes of its queue. Never raises: the sweep finds what a lost hint was about.
    """
    told: set[Queue] = set()
    for lane in map(lane_of, lanes):
        if lane.queue in told or (local_wake is not None and local_wake(lane.name)):
            continue
        told.add(lane.queue)
        try:
            current_app.send_task(lane.task_name, queue=lane.queue, expires=60, retry=False, ignore_result=True)
        except (OperationalError, redis.RedisError, OSError) as error:
            log.warning("The hint for %s was lost (%s); the sweep will find the job.", lane.name, type(error).__name__)


def cancel(job_ids: Sequence[str]) -> None:
    """Stop the model calls of superseded jobs, wherever they run, at once. Never raises: what they write is refused."""
    try:
        _redis().publish(CANCELLATIONS, json.dumps(list(job_ids)))
    except (redis.RedisError, OSError) as error:
        log.warning("A cancellation was lost (%s); the heartbeat will stop the call.", type(error).__name__)


@cache
def _redis() -> redis.Redis:
    # One try: whoever tells must not wait for a Redis that is away.
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0)
    )
