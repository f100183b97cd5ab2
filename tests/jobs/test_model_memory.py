"""Memory of models that think, shared by the processes of an installation."""

from __future__ import annotations

import pytest
import redis

from jobs import model_client
from jobs.model_client import SharedMemory
from llm.types import Endpoint, ModelSpec

MODEL = ModelSpec(Endpoint("https://models.example.com/v1", api_key="sk-1"), "small")
OTHERS = (
    ModelSpec(Endpoint("https://models.example.com/v1", api_key="sk-2"), "small"),
    ModelSpec(MODEL.endpoint, "large"),
)


async def test_what_is_kept_of_a_model_is_known_everywhere_and_of_no_other() -> None:
    assert await SharedMemory().recall(MODEL) is None
    for begins_thinking in (True, False):
        await SharedMemory().keep(MODEL, begins_thinking=begins_thinking)
        assert await SharedMemory().recall(MODEL) is begins_thinking
    assert [await SharedMemory().recall(other) for other in OTHERS] == [None, None]


async def test_without_redis_nothing_is_remembered_and_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    class Down:
        def get(self, *_: object, **__: object) -> None:
            raise redis.ConnectionError

        set = get

    monkeypatch.setattr(model_client, "cache", Down())
    await SharedMemory().keep(MODEL, begins_thinking=True)
    assert await SharedMemory().recall(MODEL) is None
