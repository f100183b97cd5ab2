"""A fault server, a client, and the records of its calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio

from llm.client import Client
from llm.types import CallRecord, ChatRequest, Deadlines, Endpoint, ModelSpec
from tests.llm.fault_server import FaultServer
from tests.tools.messaging.conftest import certificate, tls

__all__ = ["certificate", "tls"]

KEY = "sk-test-0123456789abcdef/+secret"


@pytest_asyncio.fixture
async def server() -> AsyncIterator[FaultServer]:
    server = FaultServer()
    await server.start()
    yield server
    await server.stop()


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    client = Client()
    yield client
    await client.aclose()


@pytest.fixture
def records() -> list[CallRecord]:
    return []


@pytest.fixture
def ask() -> Callable[..., ChatRequest]:
    """Returns a function that creates a request to a base URL of the fault server."""

    def make(
        url: str, *, model: str = "test-model", trusted: bool = True, key: str = KEY, **fields: Any
    ) -> ChatRequest:
        request: dict[str, Any] = {
            "skill": "reply",
            "template_hash": "0123456789abcdef",
            "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello"}],
            "deadlines": Deadlines(first_token_s=5.0, total_s=8.0),
        }
        return ChatRequest(model=ModelSpec(Endpoint(url, key, trusted), model), **(request | fields))

    return make


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses between attempts to milliseconds."""
    monkeypatch.setattr("llm.call.FIRST_PAUSE_S", 0.01)
