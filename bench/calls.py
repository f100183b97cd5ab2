"""Measures phone calls: tools, directives, many calls in one worker, and the webhooks of calls that ring.

The whole product runs beside the offline provider of calls and the offline model, on this machine. Callers talk in turns:
each says something, and the model calls a tool or answers. A tool's own time and the model's time are measured in the same
turns, and subtracted.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any

import aiohttp
import psycopg
import uvloop

from bench.call_times import CallTimes, read_times
from bench.product import Product, await_address, connections, running_product, start
from config.runner.ports import free_port
from config.runner.program import Program
from offline_model.realtime.webhook import incoming_call, signed_headers
from offline_model.relay.signing import signature

SECRET = f"whsec_{base64.b64encode(b'the secret of the measurement').decode()}"
OURS, ACCOUNT, TOKEN = "+14155550100", f"AC{'0' * 32}", "token"
TOOL = "search_knowledge"
TOOL_MS, DIRECTIVES_MS, MEMORY_MB, CPU_PERCENT, WEBHOOK_MS = 15, 60, 300, 3, 250
# The pause between two turns of a caller, how long they speak, and how long the realtime model thinks.
TURN_SECONDS = 6.0
SPEAKS_SECONDS, THINKS_SECONDS = 0.4, 0.3
# The product's own address, which Twilio's signatures cover.
BASE_URL = "http://127.0.0.1:8000"

NO_GOAL = float("inf")


@dataclass(frozen=True)
class Figure:
    """A measured value and its goal."""

    name: str
    value: float
    goal: float
    unit: str

    def __str__(self) -> str:
        figure = f"{self.name:58} {self.value:8.1f} {self.unit:3}"
        if self.goal == NO_GOAL:
            return figure
        verdict = "" if self.value <= self.goal else "  missed"
        return f"{figure} (at most {self.goal:g}){verdict}"


def main() -> None:
    options = _options()
    port = free_port()
    with ExitStack() as stack:
        product = stack.enter_context(
            running_product(
                ttft_ms=options.ttft_ms, MAKEGOOD_OUTBOUND_ALLOW=f"127.0.0.1:{port}", MAKEGOOD_BASE_URL=BASE_URL
            )
        )
        command = (sys.executable, "-m", "offline_model.realtime", "--port", str(port))
        start(stack, Program("provider", command, env=dict(product.env)))
        await_address(f"http://127.0.0.1:{port}/doors/health")
        measured = uvloop.run(_measure(product, f"http://127.0.0.1:{port}", options))
    print(f"{options.calls} calls at once, a turn of each every {TURN_SECONDS:g} s")
    print(*measured.figures, sep="\n")
    for name, milliseconds in measured.times.stage_medians.items():
        print(f"  {name:56} {milliseconds:8.1f} ms, median")


@dataclass(frozen=True)
class Measured:
    figures: list[Figure]
    times: CallTimes


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.calls", description=__doc__)
    parser.add_argument("--calls", type=int, default=50, help="calls at once")
    parser.add_argument("--turns", type=int, default=8, help="turns of each")
    parser.add_argument("--ttft-ms", type=float, default=200.0, help="the model's time to first token")
    parser.add_argument("--webhooks", type=int, default=500, help="webhooks of each provider")
    parser.add_argument("--per-second", type=float, default=50.0, help="their rate")
    return parser.parse_args()


async def _measure(product: Product, provider: str, options: argparse.Namespace) -> Measured:
    headers = {"Authorization": f"Bearer {product.api_key}"}
    async with (
        aiohttp.ClientSession(headers=headers) as api,
        aiohttp.ClientSession(connector=connections()) as http,
    ):
        await _connect(api, product, provider)
        # One at a time first: what a call costs is measured against a worker that has warmed up.
        await asyncio.gather(*(Phone(http, product, provider, f"warm_{n}").talk(4, after_s=n / 10) for n in range(5)))
        await asyncio.to_thread(_analyze, product)
        before = product.memory_bytes()["replies"]
        phones = [Phone(http, product, provider, f"call_{number}") for number in range(options.calls)]
        talking = asyncio.gather(
            *(phone.talk(options.turns, after_s=number / 5) for number, phone in enumerate(phones))
        )
        await asyncio.sleep(options.calls / 5 + TURN_SECONDS)
        cpu, started = product.cpu_s()["replies"], time.monotonic()
        await asyncio.sleep(TURN_SECONDS * (options.turns - 3))
        cpu_percent = 100 * (product.cpu_s()["replies"] - cpu) / (time.monotonic() - started) / options.calls
        memory = product.memory_bytes()["replies"]
        await talking
        documents = [await phone.document() for phone in phones]
        times = await asyncio.to_thread(read_times, product, documents)
        directives = "directives in the session after a turn, beyond the model"
        figures = [
            Figure("a tool, beyond its own time, p95", p95(times.tools), TOOL_MS, "ms"),
            Figure("a tool, beyond its own time, median", median(times.tools), TOOL_MS, "ms"),
            Figure(f"{directives}, p95", p95(times.directives), DIRECTIVES_MS, "ms"),
            Figure(f"{directives}, median", median(times.directives), DIRECTIVES_MS, "ms"),
            Figure(f"memory of the worker with {options.calls} calls", memory / 2**20, MEMORY_MB, "MB"),
            Figure("of that, for the calls", (memory - before) / 2**20, MEMORY_MB, "MB"),
            Figure("CPU of the worker per call, of one core", cpu_percent, CPU_PERCENT, "%"),
        ]
        for name, send in (("OpenAI", _ring_openai), ("Twilio", _ring_twilio)):
            cpu = product.cpu_s()["web"]
            took = await _at_rate(name.lower(), send, http, product, options)
            cpu_ms = 1000 * (product.cpu_s()["web"] - cpu) / options.webhooks
            figures += [
                Figure(f"webhook of {name} at {options.per_second:g} a second, p99", p99(took), WEBHOOK_MS, "ms"),
                Figure("CPU of web for each", cpu_ms, NO_GOAL, "ms"),
            ]
        return Measured(figures, times)


def _analyze(product: Product) -> None:
    """Refresh the statistics of the tables, as PostgreSQL does by itself within a minute."""
    with psycopg.connect(product.env["MIGRATE_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("analyze")


async def _connect(api: aiohttp.ClientSession, product: Product, provider: str) -> None:
    """Connect both providers."""
    bodies: dict[str, dict[str, Any]] = {
        "openai_sip": {
            "settings": {"number": OURS, "base_url": f"{provider}/v1"},
            "secret": {"api_key": "sk-bench", "webhook_secret": SECRET},
        },
        "twilio": {"settings": {"account_sid": ACCOUNT, "number": OURS}, "secret": TOKEN},
    }
    for kind, body in bodies.items():
        async with api.put(f"{product.base_url}/api/v1/channels/{kind}", json=body) as answer:
            if answer.status != 200:
                raise RuntimeError(await answer.text())


class Phone:
    """One caller of the offline provider."""

    def __init__(self, http: aiohttp.ClientSession, product: Product, provider: str, call_id: str) -> None:
        self._http = http
        self._product = product
        self._provider = provider
        self._id = call_id

    async def talk(self, turns: int, *, after_s: float) -> None:
        """Ring, and say something in each turn; every second answer calls a tool first."""
        await asyncio.sleep(after_s)
        await self._door("ring", {"call_id": self._id, "script": [{"say": "Good evening!"}]})
        await _ring_openai(self._http, self._product, self._id)
        while not (await self.document())["spoken_at"]:
            await asyncio.sleep(0.2)
        for number in range(turns):
            await asyncio.sleep(TURN_SECONDS)
            # The same question again would be a repeat, about which a model is asked.
            call = {"call": TOOL, "call_id": f"{self._id}_{number}", "arguments": {"query": f"dogs {number}"}}
            steps: list[dict[str, Any]] = [call, {"say": "Yes, they are."}] if number % 2 else [{"say": "Of course."}]
            script = [{**step, "thinks_s": THINKS_SECONDS} for step in steps]
            said = {"text": "Are dogs allowed?", "speaks_s": SPEAKS_SECONDS, "script": script}
            await self._door(f"calls/{self._id}/say", said)
        await asyncio.sleep(TURN_SECONDS)
        await self._door(f"calls/{self._id}/hangup", {})

    async def document(self) -> dict[str, Any]:
        async with self._http.get(f"{self._provider}/doors/calls/{self._id}") as answer:
            return dict(await answer.json())

    async def _door(self, path: str, body: dict[str, Any]) -> None:
        async with self._http.post(f"{self._provider}/doors/{path}", json=body) as answer:
            await answer.read()


def caller_of(call_id: str) -> str:
    """The caller's number, a different one for each call."""
    kind, _, number = call_id.rpartition("_")
    return f"+1415{555 + ['call', 'warm', 'openai', 'twilio'].index(kind)}{int(number):04}"


async def _ring_openai(http: aiohttp.ClientSession, product: Product, call_id: str) -> None:
    """OpenAI's webhook of a call."""
    event_id = f"evt_{call_id}"
    body = incoming_call(
        call_id,
        event_id=event_id,
        headers={"From": f"<sip:{caller_of(call_id)}@trunk.example.com>", "To": f"<sip:{OURS}@sip.example.com>"},
    )
    headers = signed_headers(body, secret=SECRET, event_id=event_id)
    async with http.post(f"{product.base_url}/hooks/openai/calls", data=body, headers=headers) as answer:
        if answer.status != 200:
            raise RuntimeError(await answer.text())


async def _ring_twilio(http: aiohttp.ClientSession, product: Product, call_id: str) -> None:
    """Twilio's webhook of a call."""
    path = "/hooks/twilio/calls"
    sid, caller = f"CA{int(caller_of(call_id)[1:]):032x}", caller_of(call_id)
    form = {"AccountSid": ACCOUNT, "CallSid": sid, "From": caller, "To": OURS, "CallStatus": "ringing"}
    headers = {"X-Twilio-Signature": signature(f"{BASE_URL}{path}", form, token=TOKEN)}
    async with http.post(f"{product.base_url}{path}", data=form, headers=headers) as answer:
        if answer.status != 200:
            raise RuntimeError(await answer.text())


async def _at_rate(
    kind: str, send: Any, http: aiohttp.ClientSession, product: Product, options: argparse.Namespace
) -> list[float]:
    """The milliseconds of webhooks that are sent at a fixed rate, whether or not the earlier ones are answered."""
    began = time.perf_counter()

    async def one(number: int) -> float:
        due = began + number / float(options.per_second)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        await send(http, product, f"{kind}_{number}")
        return 1000.0 * (time.perf_counter() - due)

    return list(await asyncio.gather(*(one(number) for number in range(options.webhooks))))


def p95(times: Sequence[float]) -> float:
    return float(sorted(times)[int(0.95 * (len(times) - 1))])


def p99(times: Sequence[float]) -> float:
    return float(sorted(times)[int(0.99 * (len(times) - 1))])


if __name__ == "__main__":
    main()
