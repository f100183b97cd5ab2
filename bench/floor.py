"""The floor: a turn's model calls made by our own client, without the product."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from typing import Any

from bench.product import Product
from llm.client import Client
from llm.types import ChatRequest, Completion, Endpoint, ModelSpec

PROMPT = "x" * 4000
SKILLS = ("observer", "thoughts", "detect")


@dataclass(frozen=True)
class Floor:
    """CPU milliseconds per turn of this process, and turns per second."""

    cpu_ms: float
    turns_per_s: float


async def measure_floor(product: Product, *, guests: int, turns: int) -> Floor:
    """One streamed reply, then three plain calls in parallel, per turn."""
    client = Client(prices={})
    endpoint = Endpoint(base_url=f"{product.model_url}/v1", api_key="bench", trusted=True)
    model = ModelSpec(endpoint=endpoint, model="offline-large")
    await _turns(client, model, turns=1)
    began, cpu = time.perf_counter(), _cpu_s()
    await asyncio.gather(*(_turns(client, model, turns=turns) for _ in range(guests)))
    seconds, spent = time.perf_counter() - began, _cpu_s() - cpu
    await client.aclose()
    return Floor(cpu_ms=spent * 1000 / (guests * turns), turns_per_s=guests * turns / seconds)


async def long_stream_cpu_ms(product: Product, *, times: int) -> float:
    """CPU milliseconds of one stream of 200 tokens, in this process."""
    client = Client(prices={})
    endpoint = Endpoint(base_url=f"{product.model_url}/v1", api_key="bench", trusted=True)
    model = ModelSpec(endpoint=endpoint, model="offline-large")
    product.tell_model("/script", [{"skill": "reply", "match": "long", "times": 0, "text": "token " * 200}])
    await _reply(client, model, "long")
    cpu = _cpu_s()
    for _ in range(times):
        await _reply(client, model, "long")
    await client.aclose()
    return (_cpu_s() - cpu) * 1000 / times


async def _turns(client: Client, model: ModelSpec, *, turns: int) -> None:
    for _ in range(turns):
        await _reply(client, model, PROMPT)
        await asyncio.gather(*(client.complete(_request(skill, model, PROMPT), record=_drop) for skill in SKILLS))


async def _reply(client: Client, model: ModelSpec, prompt: str) -> Completion:
    return await client.stream(_request("reply", model, prompt), on_text=_drop, record=_drop)


def _request(skill: str, model: ModelSpec, prompt: str) -> ChatRequest:
    return ChatRequest(skill=skill, template_hash="", model=model, messages=[{"role": "user", "content": prompt}])


def _drop(_: Any) -> None:
    """Discard the record of a call."""


def _cpu_s() -> float:
    times = os.times()
    return times.user + times.system
