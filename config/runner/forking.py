"""The client of the fork server (`config.runner.forkserver`)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import sys
from asyncio import StreamReader, StreamWriter
from pathlib import Path

from config.runner.program import Program

# Only on Linux does the kernel end a forked process with its parent, and can the libraries be forked safely.
CAN_FORK = sys.platform == "linux"
# A restarted server accepts requests within a second or two, then loads, and only then forks.
RETRY_SECONDS = 5.0
FORK_SECONDS = 60.0


def request_fork(program: Program, *, server: Path, output: int) -> socket.socket:
    """Request a process that runs the program and writes to the file descriptor `output`.

    Two lines can be read from the returned socket: the process id, and at the end the exit code. If the second is
    missing, the server died and its process with it. Raises OSError if no server listens.
    """
    _, _, module, *arguments = program.command
    order = json.dumps(
        {"name": program.name, "module": module, "arguments": arguments, "niceness": program.niceness}
    ).encode()
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(server))
        socket.send_fds(connection, [order], [output])
    except OSError:
        connection.close()
        raise
    return connection


class Forked:
    """A forked process, with the interface of asyncio's processes."""

    def __init__(self, pid: int, *, reader: StreamReader, writer: StreamWriter) -> None:
        self.pid = pid
        self._reader = reader
        self._writer = writer

    @classmethod
    async def start(cls, program: Program, *, server: Path, output: int) -> Forked:
        """Request a process. Raises OSError if the server is missing, dies, or takes too long."""
        connection = await _request_with_retry(program, server=server, output=output)
        reader, writer = await asyncio.open_unix_connection(sock=connection)
        try:
            async with asyncio.timeout(FORK_SECONDS):
                pid = await reader.readline()
        except TimeoutError:
            pid = b""
        if not pid:
            writer.close()
            raise ConnectionResetError("the fork server is gone")
        return cls(int(pid), reader=reader, writer=writer)

    async def wait(self) -> int:
        """Wait for the exit code. A signal is a negative number."""
        code = await self._reader.readline()
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        return int(code) if code else -signal.SIGKILL


async def _request_with_retry(program: Program, *, server: Path, output: int) -> socket.socket:
    """Call `request_fork`, and retry while the server restarts."""
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + RETRY_SECONDS
    while True:
        try:
            return request_fork(program, server=server, output=output)
        except (ConnectionRefusedError, FileNotFoundError):
            if loop.time() > give_up_at:
                raise
        await asyncio.sleep(0.1)
