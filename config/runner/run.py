"""`bin/run`: becomes one of Makegood's processes, for a process manager that starts each of them by itself.

The servers are the operator's own. The command lines are those of bin/serve (`config.runner.programs`).
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from config.runner import programs
from config.runner.errors import StartError
from config.runner.ports import LOOPBACK
from config.runner.preflight import check_settings
from config.runner.program import Program

SERVERS = ("DATABASE_URL", "REDIS_URL")
NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bin/run", description="Run one process of Makegood.")
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="web|replies|work|beat")
    web = kinds.add_parser("web", help="pages and the API")
    web.add_argument("--host", default=LOOPBACK, help=f"address to listen on ({LOOPBACK}: this machine only)")
    web.add_argument("--port", type=_port, default=8000, help="port (8000)")
    web.add_argument("--workers", type=_count, default=1, help="number of web processes (1)")
    for kind, work in (("replies", "replies to customers"), ("work", "all other work")):
        worker = kinds.add_parser(kind, help=f"the worker for {work}")
        worker.add_argument("--name", type=_name, default=kind, help="name of the worker, unique on this machine")
    kinds.add_parser("beat", help="the scheduler; at most one is useful")
    return parser.parse_args(arguments)


def program_of(options: argparse.Namespace, *, env: Mapping[str, str]) -> Program:
    """The program of a kind, with its options. Raises StartError if beat's directory can't be created."""
    if options.kind == "web":
        return programs.web(host=options.host, port=options.port, workers=options.workers, env=env)
    if options.kind == "replies":
        return programs.reply_worker(name=options.name, env=env)
    if options.kind == "work":
        return programs.work_worker(name=options.name, env=env)
    return programs.beat(data_dir=_data_dir(env), env=env)


def check(env: Mapping[str, str]) -> None:
    """Check the settings without connecting. Raises StartError: nothing embedded is started here."""
    for name in SERVERS:
        if not env.get(name):
            raise StartError(f"Set {name}: bin/run uses your own servers. bin/serve brings its own.")
    check_settings(env)


def become(program: Program) -> NoReturn:
    """Replace this process with the program."""
    os.chdir(program.cwd or "/")
    os.nice(program.niceness)
    os.execve(program.command[0], program.command, dict(program.env or {}))  # noqa: S606 - without a shell


def _data_dir(env: Mapping[str, str]) -> Path:
    data_dir = Path(env.get("MAKEGOOD_DATA") or programs.ROOT / ".data")
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(
            f"{data_dir} can't be created ({error.strerror}): set MAKEGOOD_DATA to a directory."
        ) from error
    return data_dir


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65_536:
        raise argparse.ArgumentTypeError("a port is a number from 1 to 65535")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 1000:
        raise argparse.ArgumentTypeError("a number of processes is from 1 to 999")
    return int(text)


def _name(text: str) -> str:
    if not NODE_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError("a name has letters, digits, dots, dashes and underscores")
    return text


def main() -> NoReturn:
    options = read_arguments()
    env = {name: value for name, value in os.environ.items() if value}
    try:
        check(env)
        become(program_of(options, env={**env, "DJANGO_SETTINGS_MODULE": "config.settings"}))
    except StartError as error:
        sys.exit(f"bin/run: {error}")


if __name__ == "__main__":
    main()
