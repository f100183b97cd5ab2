"""The size of an agent's settings in a reply request, measured by a hook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from projects.common.hooks import Hook
from projects.models import Project
from projects.models.agent_config import AgentConfig


@dataclass(frozen=True)
class PromptSize:
    """The size of a request before the conversation, in bytes by part, on the channel where it is largest.

    `limit` is the largest size of a whole request, `reserve` the part of it to keep free for the conversation.
    """

    parts: Mapping[str, int]
    channel: str
    limit: int
    reserve: int

    @property
    def total(self) -> int:
        return sum(self.parts.values())

    @property
    def room(self) -> int:
        """The bytes left for the conversation; can be negative."""
        return self.limit - self.total

    @property
    def shortfall(self) -> int:
        """The bytes missing from the room that a conversation needs."""
        return max(0, self.reserve - self.room)


# Measures settings with the tools that the business has now. Called in a tenant's transaction.
measure_prompt: Hook[Callable[[Project, AgentConfig], PromptSize]] = Hook("measure_prompt")
