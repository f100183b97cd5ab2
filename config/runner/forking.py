"""Asks the fork server (`config.runner.forkserver`) for processes."""

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

# Where the kernel ends a forked process with its parent, and libraries bear being forked.
CAN_FORK = sys.platform == "linux"
# After its death the server can be asked again within a second or two; it loads first, and forks then.
BACK_SECONDS = 5.0
FORK_SECONDS = 60.0


def ask(program: Program, *, server: Path, output: int) -> socket.socket:
    """Ask for a process that runs the program and writes to the file number `output`. Raises OSError: no server is there.

    Lines come from the socket: the process id, and at the end the exit code. Without a second line the server died, and the
    process with it.
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
    """A forked process, to be waited for like one of asyncio's own."""

    def __init__(self, pid: int, *, reader: StreamReader, writer: StreamWriter) -> None:
        self.pid = pid
        self._reader = reader
        self._writer = writer

    @classmethod
    async def start(cls, program: Program, *, server: Path, output: int) -> Forked:
        """Raises OSError when there is no server, or it dies or takes too long before the process is there."""
        connection = await _ask_in_time(program, server=server, output=output)
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
        """Its exit code, a signal as a negative number."""
        code = await self._reader.readline()
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        return int(code) if code else -signal.SIGKILL


async def _ask_in_time(program: Program, *, server: Path, output: int) -> socket.socket:
    """`ask`, while the server is being started again."""
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + BACK_SECONDS
    while True:
        try:
            return ask(program, server=server, output=output)
        except (ConnectionRefusedError, FileNotFoundError):
            if loop.time() > give_up_at:
                raise
        await asyncio.sleep(0.1)
