"""The model client of the running event loop, and the rows that record its calls."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from uuid import UUID
from weakref import WeakKeyDictionary

from django.conf import settings
from django.core.cache import cache
from redis import RedisError
from redis import TimeoutError as RedisTimeout

from jobs.models import ModelCall
from llm.client import Client
from llm.types import CallRecord, Endpoint, ModelSpec
from outbound.guard import Guard
from projects.agents.model_telemetry import observe_call
from projects.common.redis_pause import redis_pause

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Client] = WeakKeyDictionary()


def model_client() -> Client:
    """The loop's client, created at first use. All calls share its connections."""
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        client = _clients[loop] = Client(
            prices=settings.MODEL_PRICES,
            outbound=Guard(allow=settings.OUTBOUND_ALLOW),
            observe=observe_call,
            memory=SharedMemory(),
        )
    return client


class SharedMemory:
    """Memory of models that think, in Redis. Without Redis, each process learns it by itself."""

    async def recall(self, model: ModelSpec) -> bool | None:
        return await asyncio.to_thread(_read, _memory_key(model))

    async def keep(self, model: ModelSpec, *, begins_thinking: bool) -> None:
        await asyncio.to_thread(_write, _memory_key(model), begins_thinking)


def _memory_key(model: ModelSpec) -> str:
    endpoint = model.endpoint
    text = f"{endpoint.base_url}\n{endpoint.api_key}\n{model.model}"
    return f"begins_thinking:{hashlib.sha256(text.encode()).hexdigest()}"


def _read(key: str) -> bool | None:
    try:
        redis_pause.check()
        kept: bool | None = cache.get(key)
    except RedisTimeout:
        redis_pause.begin()
    except RedisError:
        pass
    else:
        return kept
    return None


def _write(key: str, begins_thinking: bool) -> None:
    with suppress(RedisError):
        redis_pause.check()
        cache.set(key, begins_thinking, timeout=None)


async def close_model_client() -> None:
    """Close the client of the running loop, if any."""
    client = _clients.pop(asyncio.get_running_loop(), None)
    if client is not None:
        await client.aclose()


def open_breakers() -> list[Endpoint]:
    """The endpoints of this process whose circuit breaker refuses calls now, once for each tenant."""
    return [endpoint for client in list(_clients.values()) for endpoint in client.open_breakers()]


def without_content(row: ModelCall) -> ModelCall:
    """The call with its tokens and cost alone: nothing leads to what it was made for."""
    row.messages, row.output, row.tool_calls = [], "", []
    row.subject_id = row.turn_id = row.job_id = None
    return row


def call_rows(
    records: Iterable[CallRecord],
    *,
    project_id: UUID,
    job_id: UUID | None,
    subject_id: UUID | None,
    turn_id: UUID | None,
) -> list[ModelCall]:
    """Unsaved rows for the calls. The caller stores them."""
    return [
        ModelCall(
            project_id=project_id,
            job_id=job_id,
            subject_id=subject_id,
            turn_id=turn_id,
            skill=record.skill,
            template_hash=record.template_hash,
            model=record.model,
            host=record.host,
            messages=record.messages,
            output=record.output,
            tool_calls=[{"name": call.name, "arguments": call.arguments_json} for call in record.tool_calls],
            input_tokens=record.usage.input_tokens,
            cached_tokens=record.usage.cached_tokens,
            output_tokens=record.usage.output_tokens,
            cost=record.cost_usd,
            started_at=record.started_at,
            first_token_ms=record.first_token_ms,
            total_ms=record.total_ms,
            attempts=record.attempts,
            finish=record.finish or "",
            error=record.error_code or "",
        )
        for record in records
    ]
