"""The event loop thread of a worker."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, wait

import pytest

from llm.loop import ModelLoop


@pytest.fixture
def loop() -> Iterator[ModelLoop]:
    loop = ModelLoop()
    yield loop
    loop.stop()


async def thread_name() -> str:
    return threading.current_thread().name


def test_all_coroutines_run_on_one_daemon_thread(loop: ModelLoop) -> None:
    futures = [loop.submit(thread_name()) for _ in range(20)]
    assert {future.result(5) for future in futures} == {"model-loop"}
    assert [thread.daemon for thread in threading.enumerate() if thread.name == "model-loop"] == [True]


def test_concurrent_threads_start_the_loop_once(loop: ModelLoop) -> None:
    async def ident() -> int:
        return threading.get_ident()

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(loop.submit(ident()).result(5))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


def test_cancelling_the_future_cancels_the_coroutine(loop: ModelLoop) -> None:
    started, cancelled = threading.Event(), threading.Event()

    async def work() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    future = loop.submit(work())
    assert started.wait(5)
    future.cancel()
    assert cancelled.wait(5)


def test_stopping_cancels_running_coroutines_and_is_idempotent() -> None:
    loop = ModelLoop()
    future = loop.submit(asyncio.sleep(60))
    loop.submit(thread_name()).result(5)
    loop.stop()
    loop.stop()
    wait([future], 5)
    with pytest.raises(CancelledError):
        future.result(0)
    assert loop.submit(thread_name()).result(5) == "model-loop"
    loop.stop()


@pytest.mark.parametrize("module", ["llm.types", "llm.errors", "llm.client", "llm.prompts"])
def test_the_sdk_is_not_loaded_before_it_is_needed(module: str) -> None:
    program = f"import sys, {module}; print(sorted({{'openai', 'aiohttp', 'httpx2'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
