"""`python -m bench [--quick] [--ttft-ms 200] [--out docs/bench]`: measure, print the table, write JSON and a plot."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import uvloop

from bench.floor import long_stream_cpu_ms
from bench.levels import LEVELS, first_token_apart_ms, measure_level, settle
from bench.product import running_product, script
from bench.report import table, write


def main() -> None:
    options = _options()
    levels = []
    with running_product(ttft_ms=options.ttft_ms) as product:
        settle(product)
        for conversations, turns in LEVELS[: 2 if options.quick else None]:
            script(product, ttft_ms=options.ttft_ms)
            level = measure_level(product, conversations=conversations, turns=turns, ttft_ms=options.ttft_ms)
            levels.append(level)
            print(
                f"{conversations} conversations: {level.turns_per_s:.1f} turns/s, {level.cpu_ms:.1f} ms CPU", flush=True
            )
        script(product, ttft_ms=options.ttft_ms)
        apart = first_token_apart_ms(product, ttft_ms=options.ttft_ms)
        stream_ms = uvloop.run(long_stream_cpu_ms(product, times=20))
    print(f"\n{table(levels)}\n")
    print(
        f"16 conversations in step, after their first turn: first token p95 {levels[1].later_first_token_p95_ms:.0f} ms"
    )
    print(f"16 conversations that began apart: first token {apart[0]:.0f} / {apart[1]:.0f} ms")
    print(f"200-token stream: {stream_ms:.1f} ms CPU, load average {os.getloadavg()[0]:.1f}")
    extra = {
        "ttft_ms": options.ttft_ms,
        "first_token_apart_p50_ms": apart[0],
        "first_token_apart_p95_ms": apart[1],
        "stream_200_tokens_cpu_ms": stream_ms,
    }
    write(options.out, levels=levels, extra=extra)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the first two levels only")
    parser.add_argument("--ttft-ms", type=float, default=200.0, help="the model's time to first token")
    parser.add_argument("--out", type=Path, default=Path("docs/bench"), help="where the JSON and the plot go")
    return parser.parse_args()


if __name__ == "__main__":
    main()
