"""Binds the runner to a Celery worker process."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from celery.signals import worker_ready, worker_shutting_down

from jobs import wakeups
from jobs.model_client import close_model_client, model_client
from jobs.runner import Runner
from llm.loop import ModelLoop

log = logging.getLogger(__name__)

_loop = ModelLoop()
_runner: Runner | None = None


@worker_ready.connect
def start(sender: Any, **_: Any) -> None:
    """Start the runner for the queues that this worker consumes."""
    global _runner
    queues = frozenset(sender.app.amqp.queues.consume_from)
    _runner = _loop.submit(_started(queues)).result(timeout=10)
    wakeups.local_wake = _runner.wake


@worker_shutting_down.connect
def stop(**_: Any) -> None:
    """Finish or requeue running jobs before Celery exits."""
    if _runner is not None:
        wakeups.local_wake = None
        _loop.submit(_stopped(_runner)).result(timeout=20)


def wake(lane: str) -> None:
    """Look for work in this lane."""
    if _runner is not None:
        _runner.wake(lane)


async def _started(queues: frozenset[str]) -> Runner:
    # Loading certificates takes time, so create the client before the first customer waits.
    model_client()
    runner = Runner(queues=queues)
    asyncio.get_running_loop().call_soon(runner.start)
    return runner


async def _stopped(runner: Runner) -> None:
    await runner.stop()
    await close_model_client()
