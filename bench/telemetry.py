"""Measures what metrics and traces add to the CPU of a turn: `python -m bench.telemetry`.

The product runs with both on, beside the offline model and a collector that takes the spans. Its processes meter the CPU
time of their telemetry, and the share of their whole CPU time in the same turns is printed. A scraper reads the metrics
meanwhile, once every five seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvloop

from bench.load import run_guests
from bench.metered import NUMBERS, read_meter
from bench.product import Product, running_product
from config.runner.program import Program

OURS = ("web", "replies", "work")
TOKEN = "bench"  # noqa: S105 - of this run alone
SCRAPE_SECONDS = 5.0
# The parts of a turn's CPU that each may take, in percent.
MOST_METRICS, MOST_TRACES = 1.0, 5.0


@dataclass(frozen=True)
class Spent:
    """CPU milliseconds per turn: of our processes, and of their metrics and traces."""

    whole: float
    metrics: float
    traces: float

    @property
    def metrics_percent(self) -> float:
        return 100 * self.metrics / (self.whole - self.metrics - self.traces)

    @property
    def traces_percent(self) -> float:
        return 100 * self.traces / (self.whole - self.metrics - self.traces)


def main() -> None:
    options = _options()
    with TemporaryDirectory() as directory, _collector() as collector:
        meters = {name: Path(directory) / name for name in OURS}
        for file in meters.values():
            file.write_bytes(bytes(NUMBERS.size))
        settings = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector,
            "MAKEGOOD_METRICS_TOKEN": TOKEN,
            "MAKEGOOD_METRICS_DIR": f"/dev/shm/{Path(directory).name}",  # noqa: S108 - of this run alone
        }

        def metered(program: Program) -> Program:
            python, _, module, *arguments = program.command
            command = (python, "-m", "bench.metered", str(meters[program.name]), module, *arguments)
            return replace(program, command=command)

        with running_product(ttft_ms=options.ttft_ms, through=metered, **settings) as product:
            spent = _measure(product, meters, conversations=options.conversations, turns=options.turns)
    print(f"{options.conversations} conversations of {options.turns} turns: {spent.whole:.2f} ms CPU per turn")
    print(
        f"metrics: {1000 * spent.metrics:.0f} µs per turn, {spent.metrics_percent:.2f} % (at most {MOST_METRICS:g} %)"
    )
    print(f"traces: {1000 * spent.traces:.0f} µs per turn, {spent.traces_percent:.2f} % (at most {MOST_TRACES:g} %)")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.telemetry", description=__doc__)
    parser.add_argument("--conversations", type=int, default=16, help="conversations at once")
    parser.add_argument("--turns", type=int, default=30, help="turns of each")
    parser.add_argument("--ttft-ms", type=float, default=200.0, help="the model's time to first token")
    return parser.parse_args()


def _measure(product: Product, meters: dict[str, Path], *, conversations: int, turns: int) -> Spent:
    uvloop.run(run_guests(product, guests=conversations, turns=3))
    with _scraper(product):
        before, cpu_before = _read(meters), product.cpu_s()
        times = uvloop.run(run_guests(product, guests=conversations, turns=turns))
        after, cpu_after = _read(meters), product.cpu_s()
    whole = sum(cpu_after[name] - cpu_before[name] for name in OURS)
    metrics, traces = (late - early for early, late in zip(before, after, strict=True))
    return Spent(*(1000 * seconds / len(times) for seconds in (whole, metrics, traces)))


def _read(meters: dict[str, Path]) -> tuple[float, float]:
    found = [read_meter(file) for file in meters.values()]
    return sum(metrics for metrics, _ in found), sum(traces for _, traces in found)


@contextmanager
def _scraper(product: Product) -> Iterator[None]:
    """Read the metrics from time to time, as Prometheus does."""
    stopped = threading.Event()

    def scrape() -> None:
        request = urllib.request.Request(f"{product.base_url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})  # noqa: S310
        while not stopped.wait(SCRAPE_SECONDS):
            with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - our own server
                answer.read()

    thread = threading.Thread(target=scrape, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


@contextmanager
def _collector() -> Iterator[str]:
    """An endpoint that takes spans and forgets them."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """No lines between the figures."""

    with ExitStack() as stack:
        server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stack.callback(server.shutdown)
        with contextlib.suppress(GeneratorExit):
            yield f"http://127.0.0.1:{server.server_port}"


if __name__ == "__main__":
    main()
