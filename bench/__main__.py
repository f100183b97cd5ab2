"""Measures the cost of a turn and prints it as a table.

The whole product runs beside the offline model, whose time to the first token is fixed. Conversations talk to it over
the API, with open event streams. All of it shares this machine: compare two states of the code within the hour, by the
median of three runs.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import uvloop

from bench.floor import long_stream_cpu_ms
from bench.levels import LEVELS, Level, first_token_apart_ms, measure_level, settle
from bench.product import Product, running_product, script
from bench.steps import measure_steps

OTHERS = """\
other measurements, each with a --help of its own:
  python -m bench.lists     pages with lists, of a tenant with a million messages, and its search
  python -m bench.executor  what the executor adds to a step of a todo, and how soon an approved todo starts
  python -m bench.widget    the widget's first paint, and delivery to five hundred open streams
  python -m bench.neighbours  what a tenant's customers notice of another tenant's load
  python -m bench.growth    a turn in a database with ten million messages, and beside a backup
  python -m bench.telemetry  what metrics and traces add to the CPU of a turn
  python -m bench.calls     phone calls: tools, directives, memory and CPU, and the webhooks of calls that ring
and of the code itself:
  python -m bench.files     the files that one message enters, up to its kept promise
  python -m bench.picture   draws docs/images/architecture.svg from the imports
"""
HEAD = (
    "conversations",
    "turns/s",
    "first token beyond the model, p50 / p95 ms",
    "reply to last analysis beyond one call, p50 ms",
    "CPU ms per turn (floor)",
    "web + workers MB",
    "prompt kB per turn",
)
PROCESSES = ("web", "replies", "work", "postgresql", "redis", "model")


def main() -> None:
    options = _options()
    with running_product(ttft_ms=options.ttft_ms) as product:
        settle(product)
        levels = [
            _level(product, conversations=conversations, turns=turns, ttft_ms=options.ttft_ms)
            for conversations, turns in LEVELS[: 2 if options.quick else None]
        ]
        figures = _single_figures(product, levels, ttft_ms=options.ttft_ms)
    print(f"\n{table(HEAD, map(_row, levels))}\n\nCPU ms per turn, by process:\n")
    print(f"{table(('conversations', *PROCESSES), map(_cpu_row, levels))}\n")
    print(*(f"{name}: {figure:.1f}" for name, figure in figures.items()), sep="\n")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if options.out:
        document = {"ttft_ms": options.ttft_ms, "figures": figures, "levels": [asdict(level) for level in levels]}
        options.out.write_text(json.dumps(document, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        epilog=OTHERS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="the first two levels only")
    parser.add_argument("--ttft-ms", type=float, default=200.0, help="the model's time to first token")
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    return parser.parse_args()


def _level(product: Product, *, conversations: int, turns: int, ttft_ms: float) -> Level:
    script(product, ttft_ms=ttft_ms)
    level = measure_level(product, conversations=conversations, turns=turns, ttft_ms=ttft_ms)
    print(f"{conversations} conversations: {level.turns_per_s:.1f} turns/s, {level.cpu_ms:.1f} ms CPU", flush=True)
    return level


def _single_figures(product: Product, levels: Sequence[Level], *, ttft_ms: float) -> dict[str, float]:
    """Figures that belong to no level, in milliseconds."""
    script(product, ttft_ms=ttft_ms)
    apart = first_token_apart_ms(product, ttft_ms=ttft_ms)
    stream = uvloop.run(long_stream_cpu_ms(product, times=20))
    steps = measure_steps(product)
    return {
        "first token p95 of 16 conversations in step, from their second turn on, ms": levels[
            1
        ].later_first_token_p95_ms,
        "first token p50 of 16 conversations that began apart, ms": apart[0],
        "first token p95 of 16 conversations that began apart, ms": apart[1],
        "CPU of a stream of 200 tokens, ms": stream,
        "tool caller beyond its model calls, p50 ms": steps.tool_caller_ms,
        "a tool inside the turn beyond the model, p50 ms": steps.tool_ms,
    }


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(level: Level) -> tuple[str, ...]:
    return (
        str(level.conversations),
        f"{level.turns_per_s:.1f}",
        f"{level.first_token_p50_ms:.0f} / {level.first_token_p95_ms:.0f}",
        f"{level.analysed_p50_ms:.0f}",
        f"{level.cpu_ms:.1f} ({level.floor.cpu_ms:.1f})",
        f"{level.memory_mb:.0f}",
        f"{level.prompt_bytes / 1000:.1f}",
    )


def _cpu_row(level: Level) -> tuple[str, ...]:
    return (str(level.conversations), *(f"{level.cpu_by_process[name]:.1f}" for name in PROCESSES))


if __name__ == "__main__":
    main()
