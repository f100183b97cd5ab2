"""What an agent's settings weigh in the request for a reply: a higher floor's measure, made known when the apps are ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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


# Inside a tenant's transaction.
Weigher = Callable[[Project, AgentConfig], Weight]

_weighers: list[Weigher] = []


def weigh_prompts_by(weigher: Weigher) -> None:
    """Make the one measure known. Called once, when the apps are ready."""
    _weighers[:] = [weigher]


def weigh(project: Project, config: AgentConfig) -> Weight:
    """What these settings would weigh, with the tools of the business as it stands, in the running transaction."""
    return _weighers[0](project, config)
