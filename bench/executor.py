"""Measures the executor's overhead per step of a todo and the delay until an approved todo starts: `python -m
bench.executor`.

Todos of ten steps run one after another. The model answers at once, and the recorded time of its calls is subtracted.
In the first kind of todo each call is refused. In the second each sends a message to a customer: no service is
connected, so messages go to the outbox, which counts as ours. The third does the same in a conversation, which the
model reads and whose log the effect's commit writes. CPU is that of the worker and of PostgreSQL while the todos of a
kind run.

The start delay is the time from an approval to the start of its run. Without the hint, because the web process reaches
no Redis, the sweep finds the todo.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

import psycopg

from bench.product import Product, await_address, running_product, start
from config.runner import programs
from config.runner.ports import free_port

MOST_MS = 20.0
MOST_SECONDS = {"with the hint": 1.0, "the hint lost": 35.0}
PATIENCE_SECONDS = 60.0
LOST = 5
STEPS = 10
CALLER = "send_email_to_caller"
CUT: Any = "cut"
WORKER = "work"

_numbers = count(1)


@dataclass(frozen=True)
class Measured:
    """Milliseconds per step: the overhead, one figure per todo, and the CPU time of the worker and of PostgreSQL."""

    overhead: list[float]
    worker: float
    postgres: float


def measure(product: Product, *, todos: int) -> dict[str, Measured]:
    """The measurements by kind of todo."""
    kind = product.call("/todo-types", {"name": "Bench", "description": "Ten steps.", "tools": [CALLER]})["id"]
    plans: dict[str, Callable[[], dict[str, Any]]] = {
        "a refused call": lambda: {"calls": [CUT] * STEPS, "persona": _customer(product)["persona"]["id"]},
        "an effect": lambda: {"calls": _letters(), "persona": _customer(product)["persona"]["id"]},
        "an effect in a conversation": lambda: {"calls": _letters(), "conversation": _customer(product)["id"]},
    }
    return {name: _measure(product, kind, plan, todos=todos) for name, plan in plans.items()}


def _measure(product: Product, kind: str, plan: Callable[[], dict[str, Any]], *, todos: int) -> Measured:
    # The first is a warm-up for code and prepared statements. Then PostgreSQL runs ANALYZE, as it does by itself
    # within a minute.
    _overhead(product, kind, **plan())
    with psycopg.connect(product.env["MIGRATE_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("analyze")
    before = product.cpu_s()
    overhead = [_overhead(product, kind, **plan()) for _ in range(todos)]
    after = product.cpu_s()
    per_step = 1000 / (todos * STEPS)
    worker, postgres = ((after[name] - before[name]) * per_step for name in (WORKER, "postgresql"))
    return Measured(overhead, worker, postgres)


def _letters() -> list[dict[str, str]]:
    """Arguments of one message per step, all different so that none is held as a repeat."""
    numbers = [next(_numbers) for _ in range(STEPS)]
    return [{"subject": f"Your order {number}", "body": f"Order {number} is on its way."} for number in numbers]


def _overhead(product: Product, kind: str, calls: Sequence[Any], **whose: str) -> float:
    """The overhead of one todo whose steps make these calls. `whose` names its persona or its conversation."""
    product.tell_model("/reset", {})
    steps = [{"skill": "execute", "tool_calls": [{"name": CALLER, "arguments": one}]} for one in calls]
    product.tell_model("/script", steps)
    made = product.call("/todos", {"type": kind, "description": "Take ten steps.", **whose})
    product.call(f"/todos/{made['id']}/approve", {})
    todo = _finished(product, made["id"], look_every_s=0.5)
    _require_ran(todo, is_refused=calls[0] == CUT)
    whole_ms = (datetime.fromisoformat(todo["status_at"]) - _at(todo, "started")).total_seconds() * 1000
    return float((whole_ms - sum(step["total_ms"] for step in todo["steps"])) / STEPS)


def measure_starts(product: Product, *, hinted: int) -> dict[str, list[float]]:
    """Seconds from each approval to the start of its run, one todo after another. The first is discarded."""
    _seconds_to_start(product, product.base_url)
    with ExitStack() as stack:
        deaf = _web_without_redis(stack, product)
        return {
            "with the hint": [_seconds_to_start(product, product.base_url) for _ in range(hinted)],
            "the hint lost": [_seconds_to_start(product, deaf) for _ in range(LOST)],
        }


def _web_without_redis(stack: ExitStack, product: Product) -> str:
    """Another web process, whose hints are lost because no Redis answers at its address."""
    port = free_port()
    env = {**product.env, "REDIS_URL": f"redis://127.0.0.1:{free_port()}/0"}
    start(stack, programs.web(host="127.0.0.1", port=port, env=env))
    await_address(f"http://127.0.0.1:{port}/api/v1/schema/")
    return f"http://127.0.0.1:{port}"


def _seconds_to_start(product: Product, base_url: str) -> float:
    """The start delay of one todo without a model, approved through the web process at this address."""
    number = next(_numbers)
    letter = {"subject": f"Your order {number}", "body": f"Order {number} is on its way."}
    plan = {"description": "Tell them.", "tool": CALLER, "arguments": letter}
    made = product.call("/todos", {**plan, "conversation": _customer(product)["id"]})["id"]
    product.call(f"/todos/{made}/approve", {}, base_url=base_url)
    todo = _finished(product, made, look_every_s=0.1)
    # The benchmark connects no mail service, so the message stays in the outbox
    if todo["status"] not in ("completed", "needs_attention"):
        raise RuntimeError(f"The todo is {todo['status']}: {todo['reason']}")
    return (_at(todo, "started") - _at(todo, "approved")).total_seconds()


def _finished(product: Product, todo_id: str, *, look_every_s: float) -> dict[str, Any]:
    """The todo after its run. Raises RuntimeError."""
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while (todo := product.call(f"/todos/{todo_id}"))["status"] in ("approved", "in_progress"):
        if time.monotonic() > ends_at:
            raise RuntimeError(f"The todo is {todo['status']} after {PATIENCE_SECONDS:.0f} s: {todo['reason']}")
        time.sleep(look_every_s)
    return todo


def _at(todo: dict[str, Any], what: str) -> datetime:
    """The time of the todo's first event of this kind."""
    return datetime.fromisoformat(next(event["at"] for event in todo["history"] if event["what"] == what))


def _customer(product: Product) -> dict[str, Any]:
    """A new conversation with a new customer, so that the daily limit per recipient isn't reached."""
    number = next(_numbers)
    persona = {"external_id": f"bench-{number}", "email": f"customer-{number}@example.com"}
    return product.call("/conversations", {"channel": "chat", "persona": persona})


def _require_ran(todo: dict[str, Any], *, is_refused: bool) -> None:
    """Raise RuntimeError unless the todo took all its steps and each ended as expected."""
    ended = [call["is_error"] for step in todo["steps"] for call in step["calls"]]
    if ended != [is_refused] * STEPS:
        raise RuntimeError(f"The todo didn't run as it was to: {todo['reason']}")


def main() -> None:
    options = _options()
    with running_product(ttft_ms=0) as product:
        measured = measure(product, todos=options.todos) if options.todos else {}
        starts = measure_starts(product, hinted=options.starts) if options.starts else {}
    for kind, found in measured.items():
        spent = f"CPU {found.worker:.1f} ms of the worker, {found.postgres:.1f} of PostgreSQL"
        overhead = f"{statistics.median(found.overhead):.1f} ms, slowest todo {max(found.overhead):.1f}"
        print(f"a step with {kind}: {overhead}; {spent}; goal {MOST_MS:.0f} ms")
    for kind, seconds in starts.items():
        spread = f"{statistics.median(seconds):.3f} s median, {max(seconds):.3f} s slowest of {len(seconds)}"
        print(f"approved to started, {kind}: {spread}; goal {MOST_SECONDS[kind]:.0f} s")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _options() -> argparse.Namespace:
    description, *_ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m bench.executor", description=description)
    parser.add_argument("--todos", type=int, default=10, help="todos of ten steps, of each kind; 0: none")
    parser.add_argument("--starts", type=int, default=50, help="todos that are approved with the hint; 0: none")
    return parser.parse_args()


if __name__ == "__main__":
    main()
