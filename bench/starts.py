"""Measures how long an approved todo waits for its run, with the hint to a worker and with the hint lost."""

from __future__ import annotations

import time
from contextlib import ExitStack
from datetime import datetime
from itertools import count
from typing import Any

from bench.product import Product, await_address, start
from config.runner import programs
from config.runner.ports import free_port

MOST_SECONDS = {"with the hint": 1.0, "the hint lost": 35.0}
PATIENCE_SECONDS = 60.0
TOOL = "send_email_to_caller"

_numbers = count(1)


def measure(product: Product, *, hinted: int, lost: int) -> dict[str, list[float]]:
    """Seconds from each yes to the beginning of its run, one todo after another. The first of all isn't counted."""
    _seconds_to_start(product, product.base_url)
    with ExitStack() as stack:
        deaf = _web_without_redis(stack, product)
        return {
            "with the hint": [_seconds_to_start(product, product.base_url) for _ in range(hinted)],
            "the hint lost": [_seconds_to_start(product, deaf) for _ in range(lost)],
        }


def _web_without_redis(stack: ExitStack, product: Product) -> str:
    """One more web process, whose hints reach nobody: no Redis answers where it looks for one."""
    port = free_port()
    env = {**product.env, "REDIS_URL": f"redis://127.0.0.1:{free_port()}/0"}
    start(stack, programs.web(host="127.0.0.1", port=port, env=env))
    await_address(f"http://127.0.0.1:{port}/api/v1/schema/")
    return f"http://127.0.0.1:{port}"


def _seconds_to_start(product: Product, base_url: str) -> float:
    """Of one todo that asks no model, approved by the web process at this address."""
    made = _made(product)
    product.call(f"/todos/{made}/approve", {}, base_url=base_url)
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while (todo := product.call(f"/todos/{made}"))["status"] != "completed":
        if time.monotonic() > ends_at:
            raise RuntimeError(f"The todo is {todo['status']} after {PATIENCE_SECONDS:.0f} s: {todo['reason']}")
        time.sleep(0.1)
    at = {event["what"]: datetime.fromisoformat(event["at"]) for event in todo["history"]}
    return (at["started"] - at["approved"]).total_seconds()


def _made(product: Product) -> Any:
    """The id of a new todo, for a customer of its own: nobody is written to too often."""
    number = next(_numbers)
    persona = {"external_id": f"start-{number}", "email": f"start-{number}@example.com"}
    conversation = product.call("/conversations", {"channel": "chat", "persona": persona})["id"]
    letter = {"subject": f"Your order {number}", "body": f"Order {number} is on its way."}
    plan = {"description": "Tell them.", "tool": TOOL, "arguments": letter, "conversation": conversation}
    return product.call("/todos", plan)["id"]
