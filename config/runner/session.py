"""Runs a supervisor until a signal ends it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable

from config.runner.log import ServiceLog
from config.runner.supervisor import Supervisor

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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
