"""`python -m bench.memory [PID]`: what each process has in memory, of a running bin/serve or of a product under some load."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.cpu import family

KILOBYTE = 1024


@dataclass(frozen=True)
class Memory:
    """Bytes in memory.

    `rss` counts a page once for each process that has it, `pss` once for all of them together: a sum of it is what they take
    of the machine. `private` is what a process shares with nobody.
    """

    rss: int = 0
    pss: int = 0
    private: int = 0

    def __add__(self, other: Memory) -> Memory:
        return Memory(self.rss + other.rss, self.pss + other.pss, self.private + other.private)


def memory_of(pid: int, *, without: Collection[int] = ()) -> Memory:
    """A process with its descendants. `without`: as for `bench.cpu.family`."""
    return sum(map(_own, family(pid, without=without)), Memory())


def table(memory: Mapping[str, Memory]) -> str:
    """A row for each name, in megabytes, and their sum."""
    rows = [*memory.items(), ("sum", sum(memory.values(), Memory()))]
    head = f"{'':22} {'PSS':>7} {'RSS':>7} {'private':>7}  MB"
    return "\n".join([head, *(f"{name:22} {_megabytes(one)}" for name, one in rows)])


def _megabytes(memory: Memory) -> str:
    return " ".join(f"{size / 1e6:7.1f}" for size in (memory.pss, memory.rss, memory.private))


def _own(pid: int) -> Memory:
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return Memory()
    sizes = {name: int(size.split()[0]) * KILOBYTE for name, _, size in (row.partition(":") for row in rows)}
    private = sizes.get("Private_Clean", 0) + sizes.get("Private_Dirty", 0)
    return Memory(rss=sizes.get("Rss", 0), pss=sizes.get("Pss", 0), private=private)


def _name_of(pid: int) -> str:
    return f"{pid} {Path(f'/proc/{pid}/comm').read_text().strip()}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("pid", type=int, nargs="?", help="the process of a running bin/serve")
    pid = parser.parse_args().pid
    print(table({_name_of(member): _own(member) for member in family(pid)} if pid else _under_load()))


def _under_load() -> dict[str, Memory]:
    """Web, workers and all that serves them, after 16 conversations of four turns."""
    # Only here: whoever looks at a running one needs nothing of it.
    import asyncio

    from bench.load import run_guests
    from bench.product import running_product

    with running_product(ttft_ms=200) as product:
        asyncio.run(run_guests(product, guests=16, turns=4))
        return product.memory()


if __name__ == "__main__":
    main()
