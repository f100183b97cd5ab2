"""One level of load: a number of parallel conversations, each with a number of turns."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import psycopg
import uvloop

from bench.floor import Floor, measure_floor
from bench.load import TurnTimes, run_guests
from bench.product import Product

# The fork server is the parent of the other three processes; without one, they are started separately.
OURS = ("forks", "web", "replies", "work")
# Parallel conversations, and turns in each.
LEVELS = ((1, 15), (16, 10), (64, 10), (256, 4))
# About the length of a turn, so that staggered conversations spread evenly.
APART_S = 0.56


@dataclass(frozen=True)
class Level:
    """One level's figures. Times are milliseconds beyond the model's own; CPU is milliseconds per turn; memory is PSS.

    `later_first_token_p95_ms` leaves out each conversation's first turn, beside which the others are still being opened.
    """

    conversations: int
    turns: int
    turns_per_s: float
    first_token_p50_ms: float
    first_token_p95_ms: float
    later_first_token_p95_ms: float
    analysed_p50_ms: float
    cpu_ms: float
    cpu_by_process: dict[str, float]
    memory_mb: float
    prompt_bytes: int
    floor: Floor


def settle(product: Product) -> None:
    """Warm up: some turns, then ANALYZE, which PostgreSQL runs by itself within a minute, then turns that plan anew."""
    uvloop.run(run_guests(product, guests=16, turns=3))
    with psycopg.connect(product.env["MIGRATE_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("analyze")
    uvloop.run(run_guests(product, guests=16, turns=3))


def measure_level(product: Product, *, conversations: int, turns: int, ttft_ms: float) -> Level:
    """Run the product, then the floor, under the same load against the same model."""
    uvloop.run(run_guests(product, guests=min(conversations, 8), turns=1))
    before, began = product.cpu_s(), time.perf_counter()
    times = uvloop.run(run_guests(product, guests=conversations, turns=turns))
    seconds, after = time.perf_counter() - began, product.cpu_s()
    spent = {name: (after[name] - before[name]) * 1000 / len(times) for name in after}
    memory = product.memory_bytes()
    return Level(
        conversations=conversations,
        turns=len(times),
        turns_per_s=len(times) / seconds,
        first_token_p50_ms=_quantile([turn.first_token_ms for turn in times], 0.5) - ttft_ms,
        first_token_p95_ms=_quantile([turn.first_token_ms for turn in times], 0.95) - ttft_ms,
        later_first_token_p95_ms=_quantile([turn.first_token_ms for turn in times if turn.number > 1], 0.95) - ttft_ms,
        analysed_p50_ms=_quantile([_analysis_ms(turn) for turn in times], 0.5) - ttft_ms,
        cpu_ms=sum(spent.get(name, 0) for name in OURS),
        cpu_by_process=spent,
        memory_mb=sum(memory[name] for name in OURS if name in memory) / 1e6,
        prompt_bytes=_prompt_bytes(product),
        floor=uvloop.run(measure_floor(product, guests=conversations, turns=turns)),
    )


def first_token_apart_ms(product: Product, *, ttft_ms: float) -> tuple[float, float]:
    """The time to the first token beyond the model's own, p50 and p95, of 16 conversations with staggered starts."""
    times = uvloop.run(run_guests(product, guests=16, turns=15, within_s=APART_S))
    first = [turn.first_token_ms - ttft_ms for turn in times]
    return _quantile(first, 0.5), _quantile(first, 0.95)


def _analysis_ms(turn: TurnTimes) -> float:
    return turn.analysed_ms - turn.replied_ms


def _prompt_bytes(product: Product) -> int:
    """Median bytes sent to the model per turn: the sum of the four skills' medians, two detections."""
    by_skill: dict[str, list[int]] = {}
    for request in product.model_log()["requests"]:
        by_skill.setdefault(request["skill"], []).append(request["prompt_bytes"])
    return int(sum(statistics.median(sizes) * (2 if skill == "detect" else 1) for skill, sizes in by_skill.items()))


def _quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
