"""Conversations that use the product's API like a page: they post messages and follow the event stream."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from dataclasses import dataclass

import aiohttp

from bench.product import Product, connections

LANES = {"observer", "thoughts", "tool_caller"}
# A turn that takes longer is stuck, which invalidates the measurement.
TURN_SECONDS = 60
MESSAGE = "Do you have a table for four on Friday evening, and is there something vegan on the menu?"


@dataclass(frozen=True)
class TurnTimes:
    """One turn, in milliseconds from the post: first token shown, reply complete, last analysis stored. `number` counts from 1."""

    number: int
    first_token_ms: float
    replied_ms: float
    analysed_ms: float


class Guest:
    """One conversation with its open event stream."""

    def __init__(self, session: aiohttp.ClientSession, *, base_url: str, number: int) -> None:
        self._session = session
        self._api = f"{base_url}/api/v1"
        self._number = number

    async def talk(self, *, turns: int, after_s: float) -> list[TurnTimes]:
        """Open a conversation and take its turns one after another."""
        await asyncio.sleep(after_s)
        body = {"channel": "chat", "persona": {"external_id": f"bench {self._number} {time.time()}"}}
        async with self._session.post(f"{self._api}/conversations", json=body) as answer:
            conversation = (await answer.json())["id"]
        url = f"{self._api}/conversations/{conversation}"
        async with self._session.get(f"{url}/events") as answer:
            stream = Events(answer.content)
            return [await self._turn(url, stream, number=number) for number in range(1, turns + 1)]

    async def _turn(self, url: str, stream: Events, *, number: int) -> TurnTimes:
        started = time.perf_counter()
        posting = asyncio.ensure_future(self._post(f"{url}/messages"))
        first = replied = 0.0
        waiting = set(LANES)
        async with asyncio.timeout(TURN_SECONDS):
            while waiting or not replied:
                event, data = await stream.next()
                now = (time.perf_counter() - started) * 1000
                if event == "token" and not first:
                    first = now
                elif event == "done":
                    replied = now
                elif event == "turn":
                    waiting.discard(json.loads(data).get("lane"))
            await posting
        return TurnTimes(number, first_token_ms=first, replied_ms=replied, analysed_ms=now)

    async def _post(self, url: str) -> None:
        async with self._session.post(url, json={"content": MESSAGE}) as answer:
            answer.raise_for_status()
            await answer.read()


class Events:
    """The events of a stream, parsed cheaply because the load shares the machine with the product."""

    def __init__(self, stream: aiohttp.StreamReader) -> None:
        self._stream = stream
        self._rest = b""
        self._frames: deque[bytes] = deque()

    async def next(self) -> tuple[str, bytes]:
        """The next event's type and its JSON data. Raises ConnectionError at the end of the stream."""
        while True:
            while not self._frames:
                chunk = await self._stream.readany()
                if not chunk:
                    raise ConnectionError("The event stream ended.")
                *frames, self._rest = (self._rest + chunk).split(b"\n\n")
                self._frames.extend(frames)
            _, named, rest = self._frames.popleft().partition(b"event: ")
            if named:
                event, _, data = rest.partition(b"\ndata: ")
                return event.decode(), data


async def run_guests(product: Product, *, guests: int, turns: int, within_s: float = 0.0) -> list[TurnTimes]:
    """Run all guests in parallel and return the turns of all.

    They start together, or spread over `within_s`. Guests that start together stay in step, because the model takes the
    same time for each: all their messages arrive at once, turn after turn.
    """
    headers = {"Authorization": f"Bearer {product.api_key}"}
    timeout = aiohttp.ClientTimeout(total=None, sock_read=60)
    async with aiohttp.ClientSession(headers=headers, connector=connections(), timeout=timeout) as session:
        people = [Guest(session, base_url=product.base_url, number=number) for number in range(guests)]
        starts = [within_s * number / guests for number in range(guests)]
        talks = [guest.talk(turns=turns, after_s=start) for guest, start in zip(people, starts, strict=True)]
        talked = await asyncio.gather(*talks)
    return [turn for turns_of_one in talked for turn in turns_of_one]
