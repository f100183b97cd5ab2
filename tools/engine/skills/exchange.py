"""The exchange that the detection and rerank skills read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TranscriptLine:
    role: str
    content: str


@dataclass(frozen=True)
class Exchange:
    """The agent's latest answer, and the conversation ending with it. `summary` covers what was said before `lines`."""

    answer: str
    lines: Sequence[TranscriptLine]
    summary: str = ""

    @property
    def said_before(self) -> list[str]:
        """The agent's earlier messages, which were judged when they were sent."""
        said = [line.content for line in self.lines if line.role == "agent"]
        return said[:-1] if said and said[-1] == self.answer else said
