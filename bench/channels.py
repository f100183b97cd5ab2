"""Measures the webhooks of messengers at a fixed rate: first with the agent paused, then while it answers.

The whole product runs beside the offline providers and the offline model, on this machine. Half of the webhooks come from
Telegram and half from WhatsApp, each with a message in one of many chats.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import aiohttp
import uvloop

from bench.calls import NO_GOAL, Figure, p95, p99
from bench.product import Product, connections, running_product, start
from config.runner import programs
from config.runner.ports import free_port, is_open
from offline_model.messengers.webhooks import (
    Webhook,
    telegram_message,
    telegram_webhook,
    whatsapp_message,
    whatsapp_webhook,
)

BOT, NUMBER = "4711", "106540352242922"
SECRET = {"access_token": "EAA-bench", "app_secret": "bench"}
WEBHOOK_MS = 250
PROCESSES = ("web", "postgresql")
AGENT = ("replies", "work")
WARM = 600


@dataclass(frozen=True)
class Doors:
    """The addresses of the webhooks, and the secret that Telegram was told."""

    telegram: str
    whatsapp: str
    secret: str

    def message(self, number: int, *, chats: int) -> Webhook:
        """The webhook of the message with this number: every second one is Telegram's."""
        chat, text = number // 2 % chats, f"Do you have a table on day {number}?"
        if number % 2:
            update = telegram_message(number + 1, text, chat=chat + 1, name="Anna")
            return telegram_webhook(self.telegram, update, secret=self.secret)
        value = whatsapp_message(f"wamid.{number}", text, sender=f"39347555{chat:04}", name="Anna")
        return whatsapp_webhook(self.whatsapp, value, number_id=NUMBER, secret=SECRET["app_secret"])


def main() -> None:
    options = _options()
    port = free_port()
    with ExitStack() as stack:
        product = stack.enter_context(
            running_product(ttft_ms=options.ttft_ms, MAKEGOOD_OUTBOUND_ALLOW=f"127.0.0.1:{port}")
        )
        start(stack, programs.offline_calls(port=port, env=product.env))
        while not is_open(port):
            time.sleep(0.05)
        figures = uvloop.run(_measure(product, f"http://127.0.0.1:{port}/messengers", options))
    print(f"{options.webhooks} webhooks at {options.per_second:g} a second, in {2 * options.chats} chats")
    print(*figures, sep="\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.channels", description=__doc__)
    parser.add_argument(
        "--webhooks", type=int, default=2_000, help="webhooks with the agent paused, and again beside it"
    )
    parser.add_argument("--per-second", type=float, default=100.0, help="their rate")
    parser.add_argument("--chats", type=int, default=100, help="chats of each provider")
    parser.add_argument("--ttft-ms", type=float, default=200.0, help="the model's time to first token")
    return parser.parse_args()


async def _measure(product: Product, provider: str, options: argparse.Namespace) -> list[Figure]:
    async with aiohttp.ClientSession(connector=connections()) as http:
        doors = await _connect(http, product, provider)
        warm = 2 * options.chats + WARM
        numbers = iter(range(2 * options.webhooks + warm))
        with _paused(product):
            # Each chat's first message makes its conversation, and each connection prepares its statements.
            await _at_rate(http, doors, [next(numbers) for _ in range(warm)], options)
            before = product.cpu_s()
            alone = await _at_rate(http, doors, [next(numbers) for _ in range(options.webhooks)], options)
            after = product.cpu_s()
        busy = await _at_rate(http, doors, list(numbers), options)
    cpu_ms = {name: 1000 * (after[name] - before[name]) / options.webhooks for name in PROCESSES}
    return [
        *_figures("webhook, the agent paused", alone),
        *_figures("webhook, while the agent answers", busy),
        *(Figure(f"CPU of {name} per webhook, the agent paused", ms, NO_GOAL, "ms") for name, ms in cpu_ms.items()),
    ]


def _figures(name: str, times: Sequence[float]) -> list[Figure]:
    return [
        Figure(f"{name}, median", median(times), NO_GOAL, "ms"),
        Figure(f"{name}, p95", p95(times), NO_GOAL, "ms"),
        Figure(f"{name}, p99", p99(times), WEBHOOK_MS, "ms"),
    ]


async def _connect(http: aiohttp.ClientSession, product: Product, provider: str) -> Doors:
    """Connect both providers, as a business does."""
    bodies: dict[str, dict[str, Any]] = {
        "telegram": {"settings": {"base_url": f"{provider}/telegram"}, "secret": f"{BOT}:bench"},
        "whatsapp": {
            "settings": {"phone_number_id": NUMBER, "base_url": f"{provider}/whatsapp/v23.0"},
            "secret": SECRET,
        },
    }
    paths: dict[str, str] = {}
    headers = {"Authorization": f"Bearer {product.api_key}"}
    for kind, body in bodies.items():
        async with http.put(f"{product.base_url}/api/v1/channels/{kind}", json=body, headers=headers) as answer:
            if answer.status != 200:
                raise RuntimeError(await answer.text())
            paths[kind] = f"{product.base_url}/hooks/{kind}/{(await answer.json())['webhook'].rpartition('/')[2]}"
    async with http.get(f"{provider}/doors/webhooks/{BOT}") as answer:
        told = await answer.json()
    return Doors(**paths, secret=told["secret_token"])


@contextmanager
def _paused(product: Product) -> Iterator[None]:
    """Both workers stop, so that only the webhooks use the processors."""
    for name in AGENT:
        os.kill(product.pids[name], signal.SIGSTOP)
    try:
        yield
    finally:
        for name in AGENT:
            os.kill(product.pids[name], signal.SIGCONT)


async def _at_rate(
    http: aiohttp.ClientSession, doors: Doors, numbers: Sequence[int], options: argparse.Namespace
) -> list[float]:
    """The milliseconds of webhooks sent at the rate, whether or not the earlier ones are answered."""
    webhooks = [doors.message(number, chats=options.chats) for number in numbers]
    began = time.perf_counter()

    async def one(index: int, webhook: Webhook) -> float:
        due = began + index / options.per_second
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        async with http.post(webhook.url, data=webhook.body, headers=webhook.headers) as answer:
            if answer.status != 200:
                raise RuntimeError(await answer.text())
        return float(1000 * (time.perf_counter() - due))

    return list(await asyncio.gather(*(one(index, webhook) for index, webhook in enumerate(webhooks))))


if __name__ == "__main__":
    main()
