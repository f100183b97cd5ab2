"""Django's own commands, run to their end as part of a start."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from pathlib import Path

from config.runner.errors import StartError
from config.runner.log import ServiceLog, pump_lines
from config.runner.program import Program

ROOT = Path(__file__).resolve().parents[2]


async def run_manage(*arguments: str, env: Mapping[str, str], log: ServiceLog, quiet: bool = False) -> list[str]:
    """`manage.py …` to its end. Returns the lines of its stdout, logged as they come unless `quiet`.

    Raises StartError with the last line it said. Cancelled, it takes the process with it.
    """
    name = arguments[0]
    program = Program(name, (sys.executable, str(ROOT / "manage.py"), *arguments), env=env, cwd=ROOT)
    options = program.popen_options() | {"stdout": PIPE, "stderr": PIPE}
    process = await asyncio.create_subprocess_exec(*program.argv(), **options)
    lines: list[str] = []
    complaints: list[str] = []
    try:
        await asyncio.gather(
            _collect(process.stdout, lines, log=None if quiet else log, name=name),
            _collect(process.stderr, complaints, log=log, name=name),
        )
        code = await process.wait()
    finally:
        await _end(process)
    if code:
        raise StartError(f"manage.py {name} failed: {_reason(complaints)}")
    return lines


async def _collect(reader: asyncio.StreamReader | None, lines: list[str], *, log: ServiceLog | None, name: str) -> None:
    def keep(line: str) -> None:
        lines.append(line)
        if log:
            log.line(name, line)

    if reader:
        await pump_lines(reader, keep)


async def _end(process: Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _reason(complaints: list[str]) -> str:
    """The last line of a traceback without the class's path: settings mistakes are whole sentences."""
    last = next((line for line in reversed(complaints) if line.strip()), "it gave no reason")
    return last.removeprefix("django.core.exceptions.ImproperlyConfigured: ")
