"""Measures the widget's first paint, and message delivery to many open streams of one web process: `python -m
bench.widget`.

Visitors use several loopback addresses, because streams are limited per address. An operator writes the messages in a
separate process, so that no model is called. Delivery is timed from just before a message is written until this
process, which only holds the streams, reads it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import aiohttp
import django

from bench.browser import start_browser
from bench.product import Product, running_product

ADDRESSES = [f"127.0.0.{last}" for last in range(2, 18)]
PER_SECOND = 20
LOADS = 10
IDLE_SECONDS = 12
SHOWN = """() => new Promise((tell) => {
  const look = () => performance.getEntriesByName("makegood:shown")[0] ?? null;
  const wait = () => look() ? requestAnimationFrame(() => setTimeout(() => {
    const script = performance.getEntriesByType("resource").find((one) => one.name.endsWith("/widget.js"));
    tell([look().startTime, performance.now() - script.startTime]);
  })) : setTimeout(wait, 1);
  wait();
})"""


@dataclass
class Guest:
    """A visitor with an open stream."""

    session: aiohttp.ClientSession
    door: str
    token: str = ""
    conversation: str = ""
    took_ms: list[float] = field(default_factory=list)
    is_open: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    async def begin(self, key: str) -> None:
        """Open a session and a conversation."""
        async with self.session.post(f"{self.door}/session", json={}) as answer:
            self.token = (await answer.json())["token"]
        self.conversation = await _tenant().begin(key, self.token)

    async def listen(self) -> None:
        """Record the delivery time of each message in the visitor's conversation."""
        async with self.session.get(f"{self.door}/events", headers=self.headers) as answer:
            answer.raise_for_status()
            async for line in answer.content:
                if line.startswith(b"event: reset"):
                    self.is_open.set()
                if line.startswith(b"data: ") and (found := re.search(rb'"content": ?"said-\d+-(\d+)"', line)):
                    self.took_ms.append((time.perf_counter_ns() - int(found[1])) / 1e6)


@dataclass(frozen=True)
class Measured:
    """CPU milliseconds per second of idle streams, and delivery times of each message in milliseconds."""

    idle_ms_per_s: float
    took_ms: list[float]


async def measure_streams(product: Product, key: str, *, streams: int, messages: int) -> Measured:
    """Open the streams, idle for a while, then have messages written. Raises RuntimeError if one isn't delivered."""
    door = f"{product.base_url}/widget/{key}"
    connectors = [aiohttp.TCPConnector(local_addr=(address, 0), limit=0) for address in ADDRESSES]
    sessions = [aiohttp.ClientSession(connector=one, headers={"Origin": product.base_url}) for one in connectors]
    guests = [Guest(sessions[number % len(sessions)], door) for number in range(streams)]
    listening: list[asyncio.Task[None]] = []
    try:
        for first in range(0, streams, 10):
            await asyncio.gather(*(guest.begin(key) for guest in guests[first : first + 10]))
        listening = [asyncio.create_task(guest.listen()) for guest in guests]
        await asyncio.gather(*(guest.is_open.wait() for guest in guests))
        idle = await _idle_cpu(product)
        await _talk(guests, messages, key=key)
        took_ms = [took for guest in guests for took in guest.took_ms]
        if len(took_ms) < messages:
            raise RuntimeError(f"{len(took_ms)} of {messages} messages were seen.")
        return Measured(idle, took_ms)
    finally:
        for task in listening:
            task.cancel()
        await asyncio.gather(*listening, return_exceptions=True)
        for session in sessions:
            await session.close()


async def _idle_cpu(product: Product) -> float:
    """CPU milliseconds per second of the web process while all streams are open and idle."""
    before = product.cpu_s()["web"]
    await asyncio.sleep(IDLE_SECONDS)
    return (product.cpu_s()["web"] - before) * 1000 / IDLE_SECONDS


async def _talk(guests: list[Guest], messages: int, *, key: str) -> None:
    """Send messages at even intervals, each in another conversation."""
    options = ("--messages", str(messages), "--per-second", str(PER_SECOND))
    command = (sys.executable, "-m", "bench.widget_speaker", key, *options)
    speaker = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE)
    await speaker.communicate("\n".join(guest.conversation for guest in guests).encode())
    if speaker.returncode:
        raise RuntimeError(f"The colleague gave up with {speaker.returncode}.")
    await asyncio.sleep(2)


def _tenant() -> Any:
    """Create the tenant. Models can be imported only after the settings are configured."""
    return import_module("bench.widget_tenant")


def measure_paint(product: Product) -> list[tuple[float, float]]:
    """Milliseconds from the page's start to the launcher, and from the script's request to its paint, per load."""
    # Imported here, because only this measurement needs a browser.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = start_browser(started)
        page = browser.new_page()
        found = []
        for _ in range(LOADS + 1):
            page.goto(f"{product.base_url}/demo/shop")
            page.wait_for_load_state()
            found.append(tuple(page.evaluate(SHOWN)))
        browser.close()
    # The first load fills the caches of browser and server.
    return found[1:]


def key_of(product: Product) -> str:
    with urllib.request.urlopen(f"{product.base_url}/demo/shop", timeout=10) as answer:  # noqa: S310  # our own server
        page = answer.read().decode()
    found = re.search(r'data-key="([\w-]+)"', page)
    if found is None:
        raise LookupError("The demo's shop shows no widget.")
    return found[1]


def main() -> None:
    options = _options()
    with running_product(ttft_ms=200) as product:
        os.environ.update(product.env)
        django.setup()
        painted = measure_paint(product)
        found = asyncio.run(
            measure_streams(product, key_of(product), streams=options.streams, messages=options.messages)
        )
    whole, script = (statistics.median(times) for times in zip(*painted, strict=True))
    print(
        f"widget painted {script:.0f} ms after its script was asked for, {whole:.0f} ms after the page (p50 of {LOADS})"
    )
    cuts = statistics.quantiles(found.took_ms, n=100)
    print(f"{options.streams} open streams on which nothing is said: {found.idle_ms_per_s:.0f} ms CPU a second")
    seen = f"{options.messages} messages seen by their visitors"
    print(f"{seen}: p50 {cuts[49]:.0f} ms, p95 {cuts[94]:.0f} ms, load average {os.getloadavg()[0]:.1f}")


def _options() -> argparse.Namespace:
    description, *_ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m bench.widget", description=description)
    parser.add_argument("--streams", type=int, default=500, help="visitors with an open stream")
    parser.add_argument("--messages", type=int, default=300, help="messages that are timed")
    return parser.parse_args()


if __name__ == "__main__":
    main()
