"""How a worker takes a hint: in the thread that hears it.

Celery would make a request of each message, hand it to a thread of its pool, trace the task and acknowledge it in Redis.
A hint is one call that returns at once, and needs none of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jobs import worker
from jobs.lanes import lane_of_task


def hint_strategy(task: Any, app: Any, consumer: Any, **_: Any) -> Callable[..., None]:
    """Celery's `Strategy` of a lane's task: what to do with each of its messages."""

    lane = lane_of_task(task.name).name

    def take(message: Any, *_: Any, **__: Any) -> None:
        worker.wake(lane)
        events = consumer.event_dispatcher
        if events is not None and events.enabled:
            _tell(events, message)

    return take


def _tell(events: Any, message: Any) -> None:
    """Let whoever watches the workers (Flower, `celery events`) see the hint by its name."""
    identity = message.headers["id"]
    events.send("task-received", uuid=identity, name=message.headers["task"])
    events.send("task-succeeded", uuid=identity, result="None", runtime=0.0)
