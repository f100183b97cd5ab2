"""Supervises all programs of a start, and stops them in order when a signal arrives."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Awaitable, Callable
from enum import IntEnum
from types import TracebackType
from typing import Self

from config.runner.child import Child
from config.runner.errors import StartError
from config.runner.log import ServiceLog
from config.runner.program import Program

MOST_FALSE_STARTS = 5
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Tier(IntEnum):
    """Programs of a higher tier need those of lower ones and stop first."""

    STORES = 0
    FORKS = 1
    APPS = 2


class Supervisor:
    """An async context manager that stops everything that was started inside its block."""

    def __init__(self, *, log: ServiceLog) -> None:
        self._log = log
        self._children: dict[Tier, list[Child]] = {tier: [] for tier in Tier}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    def start(self, program: Program, *, tier: Tier) -> Child:
        """Start `program` and keep it running."""
        child = Child(program, log=self._log)
        self._children[tier].append(child)
        child.start()
        return child

    async def stop(self) -> None:
        """Stop every child, one tier after the other. Children of a tier stop concurrently."""
        for tier in sorted(Tier, reverse=True):
            await asyncio.gather(*(child.stop() for child in self._children[tier]))

    def kill(self) -> None:
        """Kill every child now."""
        for children in self._children.values():
            for child in children:
                child.kill()

    async def wait_ready(self, child: Child, is_ready: Callable[[], bool], *, seconds: float) -> None:
        """Wait until `is_ready()`, which may block. Raises StartError if the child keeps dying or the time is up."""
        began = time.monotonic()
        next_word_at = began + 10
        while child.pid is None or not await asyncio.to_thread(is_ready):
            if child.deaths >= MOST_FALSE_STARTS or time.monotonic() > began + seconds:
                raise StartError(f"{child.program.name} doesn't start; its last lines above say why.")
            if time.monotonic() > next_word_at:
                self._log.say(f"waiting for {child.program.name} ({time.monotonic() - began:.0f} s)")
                next_word_at += 10
            await asyncio.sleep(0.05)


async def run_until_stopped(bring_up: Callable[[Supervisor], Awaitable[None]], *, log: ServiceLog) -> None:
    """Start everything, keep it running until Ctrl-C or SIGTERM, then stop it. A second signal kills at once.

    Returns after a signal. Errors of `bring_up` are raised once everything has stopped.
    """
    supervisor = Supervisor(log=log)
    work = asyncio.create_task(_stay_up(bring_up, supervisor))
    _on_signals(work, supervisor=supervisor, log=log)
    with contextlib.suppress(asyncio.CancelledError):
        await work
    log.say("everything is stopped")


async def _stay_up(bring_up: Callable[[Supervisor], Awaitable[None]], supervisor: Supervisor) -> None:
    async with supervisor:
        await bring_up(supervisor)
        await asyncio.Event().wait()


def _on_signals(work: asyncio.Task[None], *, supervisor: Supervisor, log: ServiceLog) -> None:
    signals = iter((True, False))

    def end() -> None:
        if next(signals, False):
            log.say("stopping; Ctrl-C again kills at once")
            work.cancel()
        else:
            supervisor.kill()

    for number in ENDINGS:
        asyncio.get_running_loop().add_signal_handler(number, end)
