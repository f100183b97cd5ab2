"""Django's own commands, run to their end as part of a start."""

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
# What `migrate` says when all is well, and its refusal, which ends the start.
MIGRATE_NOISE = (
    r"^(Migrations to apply:|Operations to perform:|  Apply all migrations:|Running migrations:|  Applying "
    r"|  No migrations to apply|CommandError:).*"
)
TO_APPLY = "Migrations to apply: "


def manage(*arguments: str, env: Mapping[str, str], fork_server: Path | None = None, noise: str = "") -> Program:
    """`manage.py …`; forked where a server is given, which has loaded already what it would load."""
    command = (sys.executable, "-m", "manage", *arguments)
    return Program(arguments[0], command, env=env, cwd=ROOT, fork_server=fork_server, noise=noise)


async def run_manage(
    program: Program, *, log: ServiceLog, on_line: Callable[[str], None] = lambda line: None
) -> list[str]:
    """A command of `manage` to its end. Returns its lines; those that aren't noise are logged as they come.

    Raises StartError with the last line it said. Cancelled, it takes the process with it.
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
    """What to do with each line of `migrate`, so that `show` is told how far it is."""
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
    """Without the fork server where that is gone, as it is when the settings can't be loaded: the process says why."""
    with contextlib.suppress(OSError):
        return await spawn(program)
    return await spawn(replace(program, fork_server=None))


def _reason(name: str, lines: list[str]) -> str:
    """The last line. Refusals and settings mistakes are whole sentences, which follow the class of the error."""
    last = next((line for line in reversed(lines) if line.strip()), "it gave no reason")
    sentence = re.sub(r"^(CommandError|django\.core\.exceptions\.ImproperlyConfigured): ", "", last)
    return sentence if sentence != last else f"manage.py {name} failed: {last}"
