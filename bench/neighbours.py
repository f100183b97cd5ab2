"""Measures what a tenant's customers notice of another tenant that presses: `python -m bench.neighbours`.

In each of six ways one tenant presses on the whole product: its own model answers one word every five seconds, it has
2,000 messages to answer, its webhooks never answer, the names of its webhooks are never resolved; and strangers sign up
or read pages that need no sign-in. Meanwhile the customers of another tenant ask for a text message, one after another.

Before each pressure the same is measured without it, so each row compares moments that are close to each other.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from dataclasses import dataclass, replace

import aiohttp

from bench.__main__ import table
from bench.load import Events
from bench.pressure import PRESSURES, Pressure, nobody, script_answers
from bench.product import Product, connections, running_product
from config.runner.program import Program

ASKED = "Could you text me the opening hours?"
PATIENCE_S = 60.0
# The pressure is on before the first customer comes
BEFORE_S = 3.0
TIMES, ALLOWANCE_MS, PROMISE_MS = 2.0, 100.0, 3000.0
HEAD = (
    "pressure",
    "first token p50 / p95 ms, quiet",
    "under pressure",
    "goal p95 ms",
    "promise kept p50 / p95 ms, quiet",
    "under pressure",
    "goals",
)


@dataclass(frozen=True)
class Turn:
    """The waits of one customer, in milliseconds from their message. PATIENCE_S if an answer never came."""

    first_token_ms: float = PATIENCE_S * 1000
    kept_ms: float = PATIENCE_S * 1000


@dataclass(frozen=True)
class Waits:
    """The waits of some customers, as medians and 95th percentiles."""

    turns: tuple[Turn, ...]

    @property
    def first_token(self) -> tuple[float, float]:
        return _spread([turn.first_token_ms for turn in self.turns])

    @property
    def kept(self) -> tuple[float, float]:
        return _spread([turn.kept_ms for turn in self.turns])


def _spread(values: list[float]) -> tuple[float, float]:
    cuts = statistics.quantiles(values, n=20, method="inclusive")
    return cuts[9], cuts[18]


@dataclass(frozen=True)
class Row:
    """One pressure, and the quiet before it."""

    name: str
    quiet: Waits
    pressed: Waits

    @property
    def goal_ms(self) -> float:
        return TIMES * self.quiet.first_token[1] + ALLOWANCE_MS

    @property
    def verdict(self) -> str:
        missed = {
            "first token": self.pressed.first_token[1] > self.goal_ms,
            "promise": self.pressed.kept[1] > PROMISE_MS,
        }
        return ", ".join(f"{what} missed" for what, is_missed in missed.items() if is_missed) or "met"

    def cells(self) -> tuple[str, ...]:
        pairs = (self.quiet.first_token, self.pressed.first_token, self.quiet.kept, self.pressed.kept)
        told = [f"{median:.0f} / {high:.0f}" for median, high in pairs]
        return (self.name, *told[:2], f"{self.goal_ms:.0f}", *told[2:], self.verdict)


class Neighbour:
    """The customers of the tenant that doesn't press."""

    def __init__(self, product: Product, session: aiohttp.ClientSession) -> None:
        self._api = f"{product.base_url}/api/v1"
        self._session = session
        self._number = 0

    async def ask(self) -> Turn:
        """A new customer's message, from its post to the text that the agent promised."""
        self._number += 1
        known = {"external_id": f"neighbour {time.time_ns()}", "phone": f"+39333{self._number:07}", "name": "Anna"}
        async with self._session.post(f"{self._api}/conversations", json={"channel": "chat", "persona": known}) as made:
            url = f"{self._api}/conversations/{(await made.json())['id']}"
        turn = Turn()
        async with self._session.get(f"{url}/events") as answer:
            started = time.perf_counter()
            posting = asyncio.ensure_future(self._session.post(f"{url}/messages", json={"content": ASKED}))
            try:
                async with asyncio.timeout(PATIENCE_S):
                    turn = await self._follow(Events(answer.content), started)
            except TimeoutError:
                pass
            (await posting).release()
        return turn

    async def _follow(self, stream: Events, started: float) -> Turn:
        turn = Turn()
        while True:
            event, data = await stream.next()
            now = (time.perf_counter() - started) * 1000
            if event == "token" and turn == Turn():
                turn = replace(turn, first_token_ms=now)
            elif event == "effect" and json.loads(data)["state"] == "done":
                return replace(turn, kept_ms=now)


async def measure(product: Product, *, names: list[str], customers: int) -> list[Row]:
    """One row for each pressure."""
    headers = {"Authorization": f"Bearer {product.api_key}"}
    async with aiohttp.ClientSession(headers=headers, connector=connections()) as session:
        neighbour = Neighbour(product, session)
        for _ in range(3):
            await neighbour.ask()
        rows = []
        for name in names:
            quiet = await _waits(product, neighbour, nobody, customers=customers)
            pressed = await _waits(product, neighbour, PRESSURES[name], customers=customers)
            rows.append(Row(name, quiet, pressed))
            print(*rows[-1].cells(), sep=" | ", flush=True)
            await asyncio.sleep(BEFORE_S)
        return rows


async def _waits(product: Product, neighbour: Neighbour, pressure: Pressure, *, customers: int) -> Waits:
    async with pressure(product):
        if pressure is not nobody:
            await asyncio.sleep(BEFORE_S)
        return Waits(tuple([await neighbour.ask() for _ in range(customers)]))


def with_silent_names(program: Program) -> Program:
    """The same program, with names that never answer."""
    python, _, *rest = program.command
    return replace(program, command=(python, "-m", "bench.silent_names", *rest))


def main() -> None:
    options = _options()
    settings = {"MAKEGOOD_OUTBOUND_ALLOW": "127.0.0.1"}
    with running_product(ttft_ms=options.ttft_ms, through=with_silent_names, **settings) as product:
        product.tell_model("/reset", {})
        product.tell_model("/latency", {"ttft_ms": options.ttft_ms, "gap_ms": 0})
        script_answers(product)
        names = options.pressure or list(PRESSURES)
        rows = asyncio.run(measure(product, names=names, customers=options.customers))
    print(f"\n{table(HEAD, (row.cells() for row in rows))}\n")
    print(f"goal: first token p95 within {TIMES:g} x quiet + {ALLOWANCE_MS:.0f} ms, promise p95 in {PROMISE_MS:.0f} ms")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _options() -> argparse.Namespace:
    description, *_ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="python -m bench.neighbours", description=description)
    parser.add_argument("--customers", type=int, default=15, help="customers of each measurement")
    parser.add_argument("--pressure", action="append", choices=tuple(PRESSURES), help="one pressure; repeat for more")
    parser.add_argument("--ttft-ms", type=float, default=200.0, help="the model's time to first token")
    return parser.parse_args()


if __name__ == "__main__":
    main()
