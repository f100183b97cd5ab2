"""Celery's consumer strategy for hints: run them in the thread that receives them.

By default, Celery creates a request for each message, passes it to its pool, traces the task and acknowledges it in
Redis. A hint is one call that returns at once and needs none of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jobs import runner
from jobs.lanes import lane_of_task


def hint_strategy(task: Any, app: Any, consumer: Any, **_: Any) -> Callable[..., None]:
    """The `Strategy` of a lane's task: a function that handles each of its messages."""

    lane = lane_of_task(task.name).name

    def consume(message: Any, *_: Any, **__: Any) -> None:
        runner.wake(lane)
        events = consumer.event_dispatcher
        if events is not None and events.enabled:
            _send_events(events, message)

    return consume


def _send_events(events: Any, message: Any) -> None:
    """Send the events that monitors (Flower, `celery events`) show."""
    identity = message.headers["id"]
    events.send("task-received", uuid=identity, name=message.headers["task"])
    events.send("task-succeeded", uuid=identity, result="None", runtime=0.0)
