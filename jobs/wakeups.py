"""Hints that work waits, and cancellations. A lost one costs seconds, never work."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from functools import cache
from uuid import UUID, uuid4

import redis
import redis.asyncio as aioredis
from celery import current_app
from django.conf import settings

from jobs.lanes import Queue, lane_of
from projects.common.redis_publish import publish

log = logging.getLogger(__name__)

CANCELLATIONS = "makegood:cancel"

# Set in a worker. Takes a lane's name and returns True if this process will look for the work itself.
local_wake: Callable[[str], bool] | None = None


def hint(lanes: Sequence[str]) -> None:
    """Wake a worker for these lanes, with one message per queue.

    The receiver looks at all lanes of its queue. Never raises: the sweep finds work whose hint was lost.
    """
    hinted: set[Queue] = set()
    for lane in map(lane_of, lanes):
        if lane.queue in hinted or (local_wake is not None and local_wake(lane.name)):
            continue
        hinted.add(lane.queue)
        try:
            publish("LPUSH", _queue_key(lane.queue), _message(lane.name))
        except (redis.RedisError, OSError) as error:
            log.warning("The hint for %s was lost (%s); the sweep will find the job.", lane.name, type(error).__name__)


def cancel(job_ids: Sequence[str]) -> None:
    """Cancel the model calls of superseded jobs in all workers. Never raises: their writes are refused in any case."""
    try:
        publish("PUBLISH", CANCELLATIONS, json.dumps(list(job_ids)))
    except (redis.RedisError, OSError) as error:
        log.warning("A cancellation was lost (%s); the heartbeat will cancel the call.", type(error).__name__)


async def cancellations() -> AsyncIterator[set[UUID]]:
    """The jobs that `cancel` names, as they come. Raises redis.RedisError, also if a ping is not answered."""
    client = aioredis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, **settings.REDIS_SOCKET)
    async with client, client.pubsub() as channel:
        await channel.subscribe(CANCELLATIONS)
        is_asked = False
        while True:
            message = await channel.get_message(timeout=settings.REDIS_SILENCE_SECONDS)
            if message is None and is_asked:
                raise redis.TimeoutError("Redis did not answer a ping.")
            is_asked = message is None
            if message is None:
                await channel.ping()
            elif message["type"] == "message":
                yield {UUID(job_id) for job_id in json.loads(message["data"])}


@cache
def _message(lane_name: str) -> str:
    """A Celery task message in the format of its Redis transport.

    All hints of a lane are equal, so one message serves for all. Sending through Celery would build each message and a
    Redis client, at ten times the cost.
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
