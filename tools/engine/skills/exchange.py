"""What the tool caller's skills read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TranscriptLine:
    role: str
    content: str


@dataclass(frozen=True)
class Exchange:
    """The agent's latest answer, and the conversation that ends with it. `summary` tells what was said before `lines`."""

    answer: str
    lines: Sequence[TranscriptLine]
    summary: str = ""

    @property
    def said_before(self) -> list[str]:
        """What the agent said in earlier messages, each of which was judged when it was said."""
        said = [line.content for line in self.lines if line.role == "agent"]
        return said[:-1] if said and said[-1] == self.answer else said
