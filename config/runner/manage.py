"""Django's management commands, run as steps of a start."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from config.runner.child import end_group, spawn
from config.runner.errors import StartError
from config.runner.forking import Forked
from config.runner.log import ServiceLog, pump_lines
from config.runner.program import Program

ROOT = Path(__file__).resolve().parents[2]
# Normal output of `migrate`, and its refusal, which is shown as the error of the start.
MIGRATE_NOISE = (
    r"^(Migrations to apply:|Operations to perform:|  Apply all migrations:|Running migrations:|  Applying "
    r"|  No migrations to apply|A table is in use;|CommandError:).*"
)
TO_APPLY = "Migrations to apply: "


def manage(*arguments: str, env: Mapping[str, str], fork_server: Path | None = None, noise: str = "") -> Program:
    """The program `manage.py …`. With a fork server, it is forked from there, with everything loaded."""
    command = (sys.executable, "-m", "manage", *arguments)
    return Program(arguments[0], command, env=env, cwd=ROOT, fork_server=fork_server, noise=noise)


async def run_manage(
    program: Program, *, log: ServiceLog, on_line: Callable[[str], None] = lambda line: None
) -> list[str]:
    """Run a management command and return its lines. Lines that aren't noise are logged as they arrive.

    Raises StartError with the last line of output if it fails. Cancellation kills the process.
    """
    lines: list[str] = []

    def keep(line: str) -> None:
        lines.append(line)
        on_line(line)
        if (tidy := program.tidy(line)) is not None:
            log.line(program.name, tidy)

    process, reader = await _spawn(program)
    try:
        await pump_lines(reader, keep)
        code = await process.wait()
    except BaseException:
        end_group(process.pid)
        await process.wait()
        raise
    if code:
        raise StartError(_reason(program.name, lines))
    return lines


def count_migrations(show: Callable[[str], None]) -> Callable[[str], None]:
    """A line handler for `migrate` that passes its progress to `show`."""
    done, total = 0, ""

    def on_line(line: str) -> None:
        nonlocal done, total
        if line.startswith(TO_APPLY):
            total = line.removeprefix(TO_APPLY)
        elif line.startswith("  Applying "):
            done += 1
            show(f"{done}/{total}")

    return on_line


async def _spawn(program: Program) -> tuple[Process | Forked, asyncio.StreamReader]:
    """Start the command without the fork server if that is gone.

    Then the settings couldn't be loaded, and the command says why.
    """
    with contextlib.suppress(OSError):
        return await spawn(program)
    return await spawn(replace(program, fork_server=None))


def _reason(name: str, lines: list[str]) -> str:
    """The last line. For refusals and settings errors, only their message, without the class of the error."""
    last = next((line for line in reversed(lines) if line.strip()), "no output")
    sentence = re.sub(r"^(CommandError|django\.core\.exceptions\.ImproperlyConfigured): ", "", last)
    return sentence if sentence != last else f"manage.py {name} failed: {last}"
