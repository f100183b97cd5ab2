"""Measures the cost of a turn in an empty database and in a grown one, and what a backup costs the customers meanwhile.

Two products run, and take the same load in turn, so that other programs on the machine disturb both alike.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop

from bench.levels import OURS, settle
from bench.load import TurnTimes, run_guests
from bench.planting import plant
from bench.processes import backends_cpu_seconds
from bench.product import Product, running_product, script
from config.runner.embedded import EmbeddedServices, erase_data

TTFT_MS = 200.0
GUESTS, TURNS = 16, 10
# Guests that together take about twenty turns a second.
STEADY_GUESTS, STEADY_TURNS = 12, 9
BACKUP_SECONDS = 300
# A verdict for each turn: a tool whose condition isn't met.
VERDICTS = {
    "json": {
        "verdicts": [
            {
                "quote": "word end.",
                "tool": "send_sms_tool",
                "conditions": [
                    {"name": "agentPromised", "met": True},
                    {"name": "notRelatedToExistingBooking", "met": False},
                ],
                "rule": "condition",
            }
        ]
    }
}


@dataclass(frozen=True)
class Cost:
    """CPU per turn in milliseconds. `backends_ms` is PostgreSQL's without its own work, such as vacuum and checkpoints."""

    ours_ms: float
    postgresql_ms: float
    backends_ms: float


NAMES = {"ours_ms": "our processes", "postgresql_ms": "PostgreSQL", "backends_ms": "its connections"}


def main() -> None:
    options = _options()
    with ExitStack() as stack:
        directory = options.data or Path(stack.enter_context(TemporaryDirectory(prefix="makegood-grown-")))
        stack.callback(lambda: None if options.data else erase_data(directory))
        _grow(directory, messages=options.messages, keeps_all=options.all)
        grown = stack.enter_context(running_product(ttft_ms=TTFT_MS, data_dir=directory))
        if options.runs:
            _compare(grown, runs=options.runs)
        if options.backup:
            _measure_backup(grown)
    print(f"load average {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores, over five minutes")


def _grow(directory: Path, *, messages: int, keeps_all: bool) -> None:
    """Fill the directory's database, unless that was done before."""
    directory.mkdir(exist_ok=True)
    directory.chmod(0o711)
    done = directory / "grown.json"
    if not done.exists():
        with running_product(ttft_ms=TTFT_MS, data_dir=directory) as product:
            script(product, ttft_ms=TTFT_MS, detect=VERDICTS)
            settle(product)
        began = time.monotonic()
        with EmbeddedServices(directory, durable=True) as services:
            size = plant(services, messages=messages, keeps_all=keeps_all)
        done.write_text(json.dumps({"messages": messages, "bytes": size, "seconds": time.monotonic() - began}))
    made = json.loads(done.read_text())
    print(f"{made['messages']:,} messages, {made['bytes'] / 1e9:.1f} GB, made in {made['seconds']:.0f} s", flush=True)


def _compare(grown: Product, *, runs: int) -> None:
    """Measure both products alternately, and print each run and the ratios of the medians."""
    with running_product(ttft_ms=TTFT_MS) as empty:
        products = {"empty": empty, "grown": grown}
        for product in products.values():
            script(product, ttft_ms=TTFT_MS, detect=VERDICTS)
            settle(product)
        costs: dict[str, list[Cost]] = {name: [] for name in products}
        for _ in range(runs):
            for name, product in products.items():
                costs[name].append(_measure(product))
            print("; ".join(f"{name}: {_said(found[-1])}" for name, found in costs.items()), flush=True)
    for field, name in NAMES.items():
        one, other = (statistics.median(getattr(cost, field) for cost in costs[state]) for state in ("grown", "empty"))
        print(f"CPU of {name} per turn: {other:.1f} ms empty, {one:.1f} ms grown: {one / other:.2f} x")


def _measure(product: Product) -> Cost:
    postmaster = product.pids["postgresql"]
    before, backends = product.cpu_s(), backends_cpu_seconds(postmaster)
    times = uvloop.run(run_guests(product, guests=GUESTS, turns=TURNS))
    after, backends = product.cpu_s(), backends_cpu_seconds(postmaster) - backends
    spent = {name: (after[name] - before[name]) * 1000 / len(times) for name in after}
    ours = sum(spent.get(name, 0) for name in OURS)
    return Cost(ours, spent["postgresql"], backends * 1000 / len(times))


def _said(cost: Cost) -> str:
    return f"{cost.ours_ms:.1f} + {cost.postgresql_ms:.1f} ({cost.backends_ms:.1f}) ms"


def _measure_backup(product: Product) -> None:
    """The first token's p95 beside a backup, and while that is stopped, in turn, at about twenty turns a second."""
    settle(product)
    times: dict[str, list[TurnTimes]] = {"stopped": [], "going on": []}
    began = time.monotonic()
    with TemporaryDirectory() as folder:
        file = Path(folder, "makegood.backup")
        backup = _start_backup(product, file)
        while backup.poll() is None and time.monotonic() - began < BACKUP_SECONDS:
            for state, number in (("stopped", signal.SIGSTOP), ("going on", signal.SIGCONT)):
                backup.send_signal(number)
                times[state] += uvloop.run(_steady(product))
        is_over = backup.poll() is not None
        backup.kill()
        backup.wait()
        written = sum(one.stat().st_size for one in Path(folder).iterdir())
    seconds = time.monotonic() - began
    turns_per_s = sum(map(len, times.values())) / seconds
    print(
        f"{'whole' if is_over else 'first part of a'} backup, {written / 1e9:.2f} GB written; {turns_per_s:.0f} turns/s"
    )
    beside, without = _p95_ms(times["going on"]), _p95_ms(times["stopped"])
    print(f"first token, p95: {without:.0f} ms without, {beside:.0f} ms beside it: {beside / without:.2f} x")


def _start_backup(product: Product, file: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "config.backup", "backup", str(file)]
    return subprocess.Popen(command, env=dict(product.env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


async def _steady(product: Product) -> list[TurnTimes]:
    """Turns of conversations that are under way."""
    times = await run_guests(product, guests=STEADY_GUESTS, turns=STEADY_TURNS, within_s=0.5)
    return [one for one in times if one.number > 1]


def _p95_ms(times: list[TurnTimes]) -> float:
    first = sorted(turn.first_token_ms for turn in times)
    return first[min(len(first) - 1, int(len(first) * 0.95))]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000_000, help="messages to grow by (10,000,000)")
    parser.add_argument("--all", action="store_true", help="grow as if nothing were ever deleted for its age")
    parser.add_argument("--data", type=Path, help="the directory of the grown database, which stays for the next run")
    parser.add_argument("--runs", type=int, default=7, help="measurements of each database; their median counts (7)")
    parser.add_argument("--backup", action="store_true", help="measure a backup of the grown database, too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
