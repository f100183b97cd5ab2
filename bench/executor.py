"""What the executor adds to each step of a todo, beyond the model and the tool: `python -m bench.executor`.

Todos of ten steps, one after another; the model answers at once, and the time that each step has noted of it is left out. Of
the first kind each call is refused. Of the second each writes to a customer, which begins and settles an effect; no service is
connected, so a letter goes into the outbox, and what little that takes counts as ours. The third is the same out of a
conversation, which the model reads, and whose log is written in the commit that ends the effect. CPU is that of the worker and of
PostgreSQL, whatever for, while the todos of a kind ran.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

import psycopg

from bench.product import Product, running_product

MOST_MS = 20.0
STEPS = 10
CALLER = "send_email_to_caller"
CUT: Any = "cut"
WORKER = "work"

_numbers = count(1)


@dataclass(frozen=True)
class Measured:
    """Milliseconds per step: beyond the model's, one figure for each todo, and of CPU, of the worker and of PostgreSQL."""

    overhead: list[float]
    worker: float
    postgres: float


def measure(product: Product, *, todos: int) -> dict[str, Measured]:
    """Of each kind, by what becomes of the steps' calls."""
    kind = product.call("/todo-types", {"name": "Bench", "description": "Ten steps.", "tools": [CALLER]})["id"]
    plans: dict[str, Callable[[], dict[str, Any]]] = {
        "a refused call": lambda: {"calls": [CUT] * STEPS, "persona": _customer(product)["persona"]["id"]},
        "an effect": lambda: {"calls": _letters(), "persona": _customer(product)["persona"]["id"]},
        "an effect in a conversation": lambda: {"calls": _letters(), "conversation": _customer(product)["id"]},
    }
    return {name: _measure(product, kind, plan, todos=todos) for name, plan in plans.items()}


def _measure(product: Product, kind: str, plan: Callable[[], dict[str, Any]], *, todos: int) -> Measured:
    # The first is not counted: what it runs is loaded and prepared by it. Then PostgreSQL takes stock, as it does by itself
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
    """The arguments of a letter for each step; no two are the same, which would be held as a repeat."""
    numbers = [next(_numbers) for _ in range(STEPS)]
    return [{"subject": f"Your order {number}", "body": f"Order {number} is on its way."} for number in numbers]


def _overhead(product: Product, kind: str, calls: Sequence[Any], **whose: str) -> float:
    """Of one todo whose steps make these calls. `whose` names its persona or its conversation."""
    product.tell_model("/reset", {})
    steps = [{"skill": "execute", "tool_calls": [{"name": CALLER, "arguments": one}]} for one in calls]
    product.tell_model("/script", steps)
    made = product.call("/todos", {"type": kind, "description": "Take ten steps.", **whose})
    product.call(f"/todos/{made['id']}/approve", {})
    while (todo := product.call(f"/todos/{made['id']}"))["status"] in ("approved", "in_progress"):
        time.sleep(0.5)
    _demand_ran(todo, is_refused=calls[0] == CUT)
    began = next(event["at"] for event in todo["history"] if event["what"] == "started")
    whole_ms = (datetime.fromisoformat(todo["status_at"]) - datetime.fromisoformat(began)).total_seconds() * 1000
    return float((whole_ms - sum(step["total_ms"] for step in todo["steps"])) / STEPS)


def _customer(product: Product) -> dict[str, Any]:
    """A new conversation with a customer of its own: nobody is written to too often."""
    number = next(_numbers)
    persona = {"external_id": f"bench-{number}", "email": f"customer-{number}@example.com"}
    return product.call("/conversations", {"channel": "chat", "persona": persona})


def _demand_ran(todo: dict[str, Any], *, is_refused: bool) -> None:
    """Raises RuntimeError unless the todo took all its steps, and each ended as it was to end."""
    ended = [call["is_error"] for step in todo["steps"] for call in step["calls"]]
    if ended != [is_refused] * STEPS:
        raise RuntimeError(f"The todo didn't run as it was to: {todo['reason']}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.executor", description=__doc__)
    parser.add_argument("--todos", type=int, default=10, help="of each kind")
    options = parser.parse_args()
    with running_product(ttft_ms=0) as product:
        measured = measure(product, todos=options.todos)
    for kind, found in measured.items():
        spent = f"CPU {found.worker:.1f} ms of the worker, {found.postgres:.1f} of PostgreSQL"
        overhead = f"{statistics.median(found.overhead):.1f} ms, slowest todo {max(found.overhead):.1f}"
        print(f"a step with {kind}: {overhead}; {spent}")
    print(f"goal {MOST_MS:.0f} ms; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
