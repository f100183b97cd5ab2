"""Services that run in each worker process of a queue besides its jobs, until the process ends.

Apps of higher rooms add theirs in `ready`. This room doesn't know them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from jobs.lanes import Queue

Service = Callable[[], Awaitable[None]]
_added: list[tuple[Queue, Service]] = []


def add_service(queue: Queue, service: Service) -> None:
    """Run a service in each worker process of the queue. One that fails is restarted."""
    _added.append((queue, service))


def services_of(queues: Collection[str]) -> list[Service]:
    """The services of the queues."""
    return [service for queue, service in _added if queue in queues]
