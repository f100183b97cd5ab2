"""A supervised program: started, restarted when it dies, and stopped, with its output in the log."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from asyncio.subprocess import Process

from config.runner.forking import Forked
from config.runner.log import ServiceLog, pump_lines
from config.runner.program import Program

FIRST_S, LONGEST_S = 0.2, 10.0
# A program that ran this long had started successfully, so its death doesn't count as another failed start.
STEADY_S = 5.0


class Child:
    """A program that is kept running.

    Its process leads a session of its own, so that Ctrl-C reaches only the runner and forked processes end with it. Use
    it from the event loop of the main thread, because the kernel sends the orphan signal when the *thread* that started
    the process ends.
    """

    def __init__(self, program: Program, *, log: ServiceLog) -> None:
        self.program = program
        self.deaths = 0
        self._log = log
        self._process: Process | Forked | None = None
        self._supervision: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    @property
    def pid(self) -> int | None:
        """The id of the running process, if any."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the program and keep it running."""
        self._supervision = asyncio.create_task(self._supervise(), name=self.program.name)

    async def stop(self) -> None:
        """Send the program's stop signal, then SIGKILL after its timeout. Returns when the process has ended."""
        self._stopping.set()
        if self._supervision is None:
            return
        self._signal(self.program.stop_signal)
        done, _ = await asyncio.wait([self._supervision], timeout=self.program.stop_seconds)
        if not done:
            self._log.say(f"{self.program.name} didn't stop within {self.program.stop_seconds:g} s and was killed")
            self.kill()
            await self._supervision

    def kill(self) -> None:
        """Kill the process and its group now, without a restart."""
        self._stopping.set()
        self._signal(signal.SIGKILL)

    async def _supervise(self) -> None:
        backoff = Backoff()
        while not self._stopping.is_set():
            began = time.monotonic()
            end = await self._run_once()
            if self._stopping.is_set():
                return
            self.deaths += 1
            pause_s = backoff.after_death(lived_s=time.monotonic() - began)
            self._log.say(f"{self.program.name} {end}; restarting in {pause_s:g} s")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause_s)

    async def _run_once(self) -> str:
        """Run the program once. Returns a description of its end."""
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
        # A process that left the group may keep the pipe open, so don't wait for it.
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
    """Start the program once. Returns the process and a reader of its output. Raises OSError if it can't be started."""
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
    """An exit code in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was killed by {signal.Signals(-code).name}"


def end_group(pid: int) -> None:
    """Kill the processes that a dead process left in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


class Backoff:
    """0.2 seconds, doubled up to 10 while the program keeps dying soon after its start."""

    def __init__(self) -> None:
        self._next_s = FIRST_S

    def after_death(self, *, lived_s: float) -> float:
        """Seconds to wait before the next start, given how long the program ran."""
        if lived_s >= STEADY_S:
            self._next_s = FIRST_S
        pause_s, self._next_s = self._next_s, min(self._next_s * 2, LONGEST_S)
        return pause_s
