"""Memory of models whose answers begin with thoughts without their opening tag, shared by processes."""

from __future__ import annotations

from typing import Protocol

from llm.features import Features
from llm.types import ModelSpec


class ThinkingMemory(Protocol):
    """Keeps for each model at an endpoint whether its answers begin so. Must not raise."""

    async def recall(self, model: ModelSpec) -> bool | None:
        """The value that was kept; None if there is none."""

    async def keep(self, model: ModelSpec, *, begins_thinking: bool) -> None:
        """Keep the value that a reply has shown."""


async def recall(memory: ThinkingMemory | None, model: ModelSpec, features: Features) -> None:
    """Take over what other processes learned, until a reply of this one has shown it."""
    if memory is None or features.has_shown_thinking:
        return
    kept = await memory.recall(model)
    if kept is not None and not features.has_shown_thinking:
        features.begins_thinking = features.remembered_thinking = kept


async def keep(memory: ThinkingMemory | None, model: ModelSpec, features: Features) -> None:
    """Keep what this process has learned, if it is new."""
    if memory is not None and features.begins_thinking != features.remembered_thinking:
        features.remembered_thinking = features.begins_thinking
        await memory.keep(model, begins_thinking=features.begins_thinking)
