"""The combined log of all processes: time, process, message."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TextIO

NAME_WIDTH = 9
# ANSI colors of the names, in the order of their first line.
COLORS = (36, 32, 35, 33, 34, 96, 92, 95)
LONGEST_LINE = 64 * 1024


class ServiceLog:
    """Writes complete lines. On a terminal, running steps are shown below them, in color unless NO_COLOR is set."""

    # People who start it by hand read the demo's password here.
    shows_secrets = True

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._colors: dict[str, int] | None = {} if stream.isatty() and not os.environ.get("NO_COLOR") else None
        self._steps: dict[str, str] = {}
        self._is_open = True

    def say(self, text: str) -> None:
        """Log a line of the runner."""
        self.line("makegood", text)

    def line(self, name: str, text: str) -> None:
        """Log a line of process `name`. If the output is closed (a broken pipe or terminal), lines are dropped."""
        self._write(f"{time.strftime('%H:%M:%S')} {self._column(name)} {text}\n")

    @contextmanager
    def step(self, what: str) -> Iterator[Callable[[str], None]]:
        """A step of the start. Yields a function that shows progress. Logs a line when the step is done."""
        began = time.monotonic()
        self._show(what, "")
        try:
            yield lambda progress: self._show(what, progress)
        finally:
            del self._steps[what]
            self._write("")
        self.say(f"{what}: ready ({time.monotonic() - began:.1f} s)")

    def _show(self, what: str, progress: str) -> None:
        self._steps[what] = f"{what}  {progress}".rstrip()
        self._write("")

    def _write(self, lines: str) -> None:
        if self._is_terminal:
            below = "  ".join(f"{step} …" for step in self._steps.values())
            lines = f"\r\x1b[K{lines}{below[: shutil.get_terminal_size().columns - 1]}"
        if not self._is_open or not lines:
            return
        try:
            self._stream.write(lines)
            self._stream.flush()
        except OSError:
            self._is_open = False

    def _column(self, name: str) -> str:
        column = f"{name:<{NAME_WIDTH}}|"
        if self._colors is None:
            return column
        color = self._colors.setdefault(name, COLORS[len(self._colors) % len(COLORS)])
        return f"\x1b[{color}m{column}\x1b[0m"


class JsonServiceLog(ServiceLog):
    """Writes one JSON object per line. Lines of our own processes are such objects already."""

    shows_secrets = False

    def line(self, name: str, text: str) -> None:
        if not _is_object(text):
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            text = json.dumps({"time": now, "level": "INFO", "message": text, "process": name}, ensure_ascii=False)
        self._write(f"{text}\n")

    def _show(self, what: str, progress: str) -> None:
        """Show nothing between the lines."""
        self._steps[what] = ""


def open_service_log(stream: TextIO, *, form: str) -> ServiceLog:
    """The log in the operator's form, which is `text` or `json`."""
    return JsonServiceLog(stream) if form == "json" else ServiceLog(stream)


def _is_object(text: str) -> bool:
    try:
        return text.startswith("{") and isinstance(json.loads(text), dict)
    except ValueError:
        return False


async def pump_lines(reader: asyncio.StreamReader, emit: Callable[[str], None]) -> None:
    """Pass on the lines of `reader` until it ends. Splits overlong lines, and includes a last line without a newline."""
    rest = b""
    while chunk := await reader.read(LONGEST_LINE):
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > LONGEST_LINE:
            lines, rest = [*lines, rest], b""
        for line in lines:
            emit(_text(line))
    if rest:
        emit(_text(rest))


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r")
