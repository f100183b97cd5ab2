"""Hints that there is work, and that work is no longer wanted. Losing any of them costs seconds, never work."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Sequence
from functools import cache
from uuid import uuid4

import redis
from celery import current_app

from jobs.lanes import Queue, lane_of
from projects.common.redis_publish import publish

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
            publish("LPUSH", _queue_key(lane.queue), _message(lane.name))
        except (redis.RedisError, OSError) as error:
            log.warning("The hint for %s was lost (%s); the sweep will find the job.", lane.name, type(error).__name__)


def cancel(job_ids: Sequence[str]) -> None:
    """Stop the model calls of superseded jobs, wherever they run, at once. Never raises: what they write is refused."""
    try:
        publish("PUBLISH", CANCELLATIONS, json.dumps(list(job_ids)))
    except (redis.RedisError, OSError) as error:
        log.warning("A cancellation was lost (%s); the heartbeat will stop the call.", type(error).__name__)


@cache
def _message(lane_name: str) -> str:
    """A Celery task message as its Redis transport keeps it.

    All hints of a lane say the same, so one message serves for all. Celery's own way of sending makes each anew, and a client
    of Redis for it: ten times the cost.
    """
    lane = lane_of(lane_name)
    task = current_app.amqp.as_task_v2(str(uuid4()), lane.task_name, ignore_result=True)
    properties = {
        **task.properties,
        "delivery_mode": 2,
        "delivery_info": {"exchange": "", "routing_key": lane.queue},
        "priority": 0,
        "body_encoding": "base64",
        "delivery_tag": str(uuid4()),
    }
    message = {
        "body": base64.b64encode(json.dumps(task.body).encode()).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": task.headers,
        "properties": properties,
    }
    return json.dumps(message)


def _queue_key(queue: Queue) -> str:
    return f"{current_app.conf.broker_transport_options['global_keyprefix']}{queue}"
