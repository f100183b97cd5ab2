"""The size of an agent's settings in the request for a reply, measured by a hook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from projects.common.hooks import Hook
from projects.models import Project
from projects.models.agent_config import AgentConfig


@dataclass(frozen=True)
class Weight:
    """The bytes of a request before anything is said, part by part, on the channel where they are most.

    `limit` is what a whole request may weigh, `least` what the conversation should have of it.
    """

    parts: Mapping[str, int]
    channel: str
    limit: int
    least: int

    @property
    def total(self) -> int:
        return sum(self.parts.values())

    @property
    def room(self) -> int:
        """What is left for the conversation; zero or less where nothing is."""
        return self.limit - self.total

    @property
    def lacking(self) -> int:
        """By how much the room is too small."""
        return max(0, self.least - self.room)


# The weight of these settings with the tools of the business as it stands, inside a tenant's transaction.
weigh: Hook[Callable[[Project, AgentConfig], Weight]] = Hook("weigh")
