"""The event loop of a worker process. All model calls run on it, so that any of them can be canceled at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

STOP_TIMEOUT_S = 10.0


def _new_event_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop  # not available on Windows
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


class ModelLoop:
    """A daemon thread with an event loop, started by the first `submit`. Thread-safe."""

    def __init__(self, *, name: str = "model-loop") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run the coroutine on the loop. Cancelling the future cancels the coroutine, which closes its connection."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._running_loop())

    def stop(self) -> None:
        """Cancel running coroutines and end the thread. A later `submit` starts a new one. Idempotent."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join(STOP_TIMEOUT_S)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = _new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name=self._name, daemon=True)
                self._thread.start()
            return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        _finish(loop)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _finish(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    steps: list[Callable[[], Coroutine[Any, Any, None]]] = [loop.shutdown_asyncgens, loop.shutdown_default_executor]
    for step in steps:
        loop.run_until_complete(step())
