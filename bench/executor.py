"""What the executor adds to each step of a todo, beyond the model and the tool: `python -m bench.executor`.

Todos of ten steps, one after another: the model answers at once, and each of its calls is refused, so that all time is ours
but the model's, which every step has noted.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
import urllib.request
from datetime import datetime
from typing import Any

from bench.product import Product, running_product

MOST_MS = 20.0
CALLER = "send_email_to_caller"


def measure(product: Product, *, todos: int) -> list[float]:
    """Milliseconds per step beyond the model's, one figure for each todo."""
    product.tell_model("/reset", {})
    product.tell_model(
        "/script", {"skill": "execute", "times": 0, "tool_calls": [{"name": CALLER, "arguments": "cut"}]}
    )
    kind = _call(product, "/todo-types", {"name": "Bench", "description": "Ten steps.", "tools": [CALLER]})
    return [_overhead(product, kind["id"]) for _ in range(todos)]


def _overhead(product: Product, kind: str) -> float:
    made = _call(product, "/todos", {"type": kind, "description": "Take ten steps."})
    _call(product, f"/todos/{made['id']}/approve", {})
    while (todo := _call(product, f"/todos/{made['id']}"))["status"] in ("approved", "in_progress"):
        time.sleep(0.2)
    began = next(event["at"] for event in todo["history"] if event["what"] == "started")
    whole_ms = (datetime.fromisoformat(todo["status_at"]) - datetime.fromisoformat(began)).total_seconds() * 1000
    steps = todo["steps"]
    return float((whole_ms - sum(step["total_ms"] for step in steps)) / len(steps))


def _call(product: Product, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{product.base_url}/api/v1{path}", data=data)  # noqa: S310  # our own server
    request.add_header("Authorization", f"Bearer {product.api_key}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        return dict(json.load(answer))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.executor", description=__doc__)
    parser.add_argument("--todos", type=int, default=10)
    options = parser.parse_args()
    with running_product(ttft_ms=0) as product:
        found = measure(product, todos=options.todos)
    median, slowest = statistics.median(found), max(found)
    print(
        f"executor: {median:.1f} ms a step, slowest todo {slowest:.1f}, goal {MOST_MS:.0f}; load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
