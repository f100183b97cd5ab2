"""Password hashing in a few threads of its own, while the caller holds no database connection."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connections
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from projects.common.exception_answers import answers_exceptions

# Hashes that wait for each thread. A hash takes a few tenths of a second of CPU.
WAITING_PER_THREAD = 12
RETRY_SECONDS = 5
# Hashing is CPU work that nobody else should wait for (`man 7 sched`).
NICENESS = 10


class TooManyHashes(Exception):
    """Too many passwords are being hashed. The response is 429 (`too_many_hashes`)."""


class HashThreads:
    """Runs hash functions, `threads` at a time. Others wait, up to `most_waiting`."""

    def __init__(self, *, threads: int, most_waiting: int) -> None:
        self._places = threading.BoundedSemaphore(threads + most_waiting)
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="hash", initializer=_lower_priority)

    def run(self, function: Callable[[], str]) -> str:
        """The function's result. Raises TooManyHashes."""
        if not self._places.acquire(blocking=False):
            raise TooManyHashes
        try:
            release_connections()
            return self._executor.submit(function).result()
        finally:
            self._places.release()


def _lower_priority() -> None:
    # Linux sets the niceness of a single thread.
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


hash_threads = HashThreads(threads=settings.HASH_THREADS, most_waiting=settings.HASH_THREADS * WAITING_PER_THREAD)


class QueuedHasher(PBKDF2PasswordHasher):
    """Django's default hasher, run in `hash_threads`. Hashes are compatible."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        return hash_threads.run(partial(super().encode, password, salt, iterations))


def release_connections() -> None:
    """Return this thread's connections to their pools. Django takes one again with the next query.

    A connection inside a transaction is kept.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


@answers_exceptions
def too_many_hashes(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """Answers TooManyHashes with 429."""
    if not isinstance(error, TooManyHashes):
        return None
    response = render(request, "429.html", status=429)
    response["Retry-After"] = str(RETRY_SECONDS)
    return response
