"""Metrics and traces of workers and of the scheduler, from Celery's signals."""

from __future__ import annotations

from typing import Any

from celery.signals import beat_init, worker_init, worker_shutdown

from config.telemetry import begin_telemetry, end_telemetry


@worker_init.connect
def begin_in_worker(sender: Any, **_: Any) -> None:
    """Begin before `jobs.runner` claims the first job, at the signal after this one. A worker is named after its queues."""
    begin_telemetry("-".join(sorted(sender.app.amqp.queues.consume_from)))


@worker_shutdown.connect
def end_in_worker(**_: Any) -> None:
    """End after the last job."""
    end_telemetry()


@beat_init.connect
def begin_in_beat(**_: Any) -> None:
    """The scheduler runs no job, and tells that it is there."""
    begin_telemetry("beat")
