"""Counts the files and functions of ours that one message enters, from its POST to its settled promise: `python -m
bench.files`.

Web and both workers run under a profile (`bench.profiled`), beside the offline model, PostgreSQL and Redis. A customer
asks for a text message; the agent promises it, and it goes to the outbox. Another customer asks first, so that one-time
loading isn't counted. Web is profiled until it has answered the POST, the workers until nothing is left to do.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.imports import ROOT, imported_by_module, modules
from bench.product import Product, running_product
from config.runner.program import Program

GOAL = 110
SMALL_LINES = 60
MESSAGE = "I am Ada, +39 347 555 0142. Could you text me the opening hours?"
# Periodic work such as sweeps and heartbeats is off during the measurement.
STILL = {"MAKEGOOD_SWEEP_SECONDS": "3600", "MAKEGOOD_LEASE_SECONDS": "3600"}
PATIENCE_SECONDS = 120.0
# The time between a job's last commit and the end of its task.
AFTER_SECONDS = 0.5
COUNTED = """\
Counted are the files with a function that web or a worker enters. A file of which only the body runs, when it is imported, is not
one of them (settings, migrations, declarations of models), nor are libraries, tests and the offline model."""


@dataclass(frozen=True)
class Watched:
    """Programs under a profile, each writing to a file of this folder."""

    folder: Path

    def program(self, program: Program) -> Program:
        """The same program under a profile that is switched off."""
        self._file(program.name).write_text("0\n")
        python, _, *rest = program.command
        return replace(program, command=(python, "-m", "bench.profiled", str(self._file(program.name)), *rest))

    @contextmanager
    def switched_on(self, *names: str) -> Iterator[None]:
        """Profile these programs for the length of the block."""
        self._switch(b"1", names)
        yield
        self._switch(b"0", names)

    def entered(self) -> dict[str, set[str]]:
        """The functions that were entered, by file."""
        found = defaultdict(set)
        for file in self.folder.iterdir():
            for line in file.read_text().splitlines()[1:]:
                path, function = line.split("\t")
                found[path].add(function)
        return dict(found)

    def _switch(self, value: bytes, names: tuple[str, ...]) -> None:
        for name in names:
            with self._file(name).open("r+b") as file:
                file.write(value)

    def _file(self, name: str) -> Path:
        return self.folder / name


def entered_files() -> dict[str, set[str]]:
    """The functions that one message enters, by file relative to the repository."""
    with TemporaryDirectory() as folder:
        watched = Watched(Path(folder))
        with running_product(ttft_ms=0, through=watched.program, **STILL) as product:
            # Use the offline model's rules instead of the fixed answers of other measurements.
            product.tell_model("/reset", {})
            conversation = _begin(product, "first")
            _await_settled(product, conversation, _post(product, conversation))
            conversation = _begin(product, "second")
            with watched.switched_on("replies", "work"):
                with watched.switched_on("web"):
                    turn = _post(product, conversation)
                _await_settled(product, conversation, turn)
        return watched.entered()


def _begin(product: Product, customer: str) -> str:
    return str(product.call("/conversations", {"channel": "chat", "persona": {"external_id": customer}})["id"])


def _post(product: Product, conversation: str) -> str:
    """Post the customer's message and return its turn."""
    return str(product.call(f"/conversations/{conversation}/messages", {"content": MESSAGE})["turn"]["id"])


def _await_settled(product: Product, conversation: str, turn: str) -> None:
    """Wait until the turn's promise has evidence and its jobs are over. Raises RuntimeError."""
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while not _is_settled(found := product.call(f"/conversations/{conversation}/turns/{turn}")):
        if time.monotonic() > ends_at:
            states = {"jobs": found["jobs"], "promises": found["promises"], "error": found["error"]}
            raise RuntimeError(f"The promise has no evidence after {PATIENCE_SECONDS:.0f} s: {states}")
        time.sleep(0.1)
    time.sleep(AFTER_SECONDS)


def _is_settled(turn: dict[str, Any]) -> bool:
    """Without a provider, the text is in the outbox."""
    found = [promise["evidence"] for promise in turn["promises"]]
    return found == ["outbox"] and all(job["state"] == "done" for job in turn["jobs"])


def report(found: Mapping[str, set[str]]) -> Iterator[str]:
    """The files by room with their numbers of entered functions, and the total."""
    by_room = defaultdict(list)
    for path in sorted(found):
        by_room["/".join(path.split("/")[:-1][:2])].append(path)
    for room, files in sorted(by_room.items()):
        yield f"{room}/ ({len(files)})"
        yield from (f"  {path:<56}{len(found[path]):>3}" for path in files)
    functions = sum(map(len, found.values()))
    yield f"\n{len(found)} files, {functions} functions; the goal is at most {GOAL} files.\n{COUNTED}"


def small_files(found: Mapping[str, set[str]]) -> Iterator[str]:
    """Entered files under 60 lines that one other entered file imports, smallest first, with their total number of
    importers.
    """
    names = {str(path.relative_to(ROOT)): name for name, path in modules().items()}
    imported, on_the_way = imported_by_module(), {names[path] for path in found}
    lengths = {path: (ROOT / path).read_text().count("\n") for path in found}
    for path, lines in sorted(lengths.items(), key=lambda one: one[1]):
        importers = {importer for importer, targets in imported.items() if names[path] in targets}
        if lines < SMALL_LINES and len(importers & on_the_way) == 1:
            [importer] = importers & on_the_way
            yield f"  {path:<56}{lines:>3} lines, imported by {importer}, {len(importers)} in all"


def main() -> None:
    description, *_ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m bench.files", description=description)
    parser.add_argument("--small", action="store_true", help="list the small files to merge as well")
    options = parser.parse_args()
    found = entered_files()
    print(*report(found), sep="\n")
    if options.small:
        print(f"\nUnder {SMALL_LINES} lines, imported by one of the others:", *small_files(found), sep="\n")


if __name__ == "__main__":
    main()
