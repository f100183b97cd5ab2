"""One program kept alive: started, its output passed on, started again when it dies, ended when told to."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from asyncio.subprocess import Process

from config.runner.backoff import Backoff
from config.runner.forking import Forked
from config.runner.log import ServiceLog, pump_lines
from config.runner.program import Program


class Child:
    """Its process leads a session of its own: Ctrl-C reaches the runner only, and whatever it forked ends with it.

    To be used from the event loop of the main thread: the kernel sends the orphan signal when the starting *thread*
    ends.
    """

    def __init__(self, program: Program, *, log: ServiceLog) -> None:
        self.program = program
        self.deaths = 0
        self._log = log
        self._process: Process | Forked | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    @property
    def pid(self) -> int | None:
        """The running process, if there is one now."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Begin to keep it alive."""
        self._keeper = asyncio.create_task(self._keep(), name=self.program.name)

    async def stop(self) -> None:
        """End it by its own signal, and by SIGKILL when that takes too long. Returns when it is gone."""
        self._stopping.set()
        if self._keeper is None:
            return
        self._signal(self.program.stop_signal)
        done, _ = await asyncio.wait([self._keeper], timeout=self.program.stop_seconds)
        if not done:
            self._log.say(f"{self.program.name} didn't stop within {self.program.stop_seconds:g} s and is killed")
            self.kill()
            await self._keeper

    def kill(self) -> None:
        """SIGKILL to the process and its group, now; it isn't started again."""
        self._stopping.set()
        self._signal(signal.SIGKILL)

    async def _keep(self) -> None:
        backoff = Backoff()
        while not self._stopping.is_set():
            began = time.monotonic()
            end = await self._live()
            if self._stopping.is_set():
                return
            self.deaths += 1
            pause_s = backoff.after_death(lived_s=time.monotonic() - began)
            self._log.say(f"{self.program.name} {end}; starting it again in {pause_s:g} s")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause_s)

    async def _live(self) -> str:
        """Run it once. Returns how it ended, in words."""
        try:
            process, reader = await spawn(self.program)
        except OSError as error:
            return f"can't be started ({error.strerror or error})"
        self._process = process
        output = asyncio.create_task(pump_lines(reader, self._emit))
        if self._stopping.is_set():
            self._signal(self.program.stop_signal)
        code = await process.wait()
        self._process = None
        end_group(process.pid)
        # A process that left the group may hold the pipe open: don't wait for it.
        await asyncio.wait([output], timeout=1)
        output.cancel()
        return describe_exit(code)

    def _emit(self, line: str) -> None:
        tidy = self.program.tidy(line)
        if tidy is not None:
            self._log.line(self.program.name, tidy)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.killpg(self._process.pid, number)
            else:
                os.kill(self._process.pid, number)


async def spawn(program: Program) -> tuple[Process | Forked, asyncio.StreamReader]:
    """Start it once, with a reader of its output. Raises OSError when it can't be started."""
    read_end, write_end = os.pipe()
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", buffering=0)
    )
    try:
        if program.fork_server is not None:
            return await Forked.start(program, server=program.fork_server, output=write_end), reader
        process = await asyncio.create_subprocess_exec(*program.argv(), stdout=write_end, **program.popen_options())
        return process, reader
    finally:
        os.close(write_end)


def describe_exit(code: int) -> str:
    """An exit status in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was ended by {signal.Signals(-code).name}"


def end_group(pid: int) -> None:
    """Whatever the dead process forked and left in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
