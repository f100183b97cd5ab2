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
