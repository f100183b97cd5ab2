"""The least speed of a streamed answer. A server that trickles would hold its caller's slot for the whole deadline."""

from __future__ import annotations

from dataclasses import dataclass

# Half a token a second. A model on a slow computer writes several.
WINDOW_S = 10.0
LEAST_TOKENS = 5
CHARACTERS_PER_TOKEN = 4


@dataclass
class Pace:
    """Counts the tokens of a stream. Each window must bring LEAST_TOKENS, or the stream is cut at its end.

    An event without text counts as a token, because a model may think or write a tool call.
    """

    ends_at: float
    _tokens: int = 0

    @classmethod
    def begin(cls, now: float) -> Pace:
        return cls(ends_at=now + WINDOW_S)

    def add(self, text: str, *, now: float) -> bool:
        """Count an event. Returns True if the window is full and the next one begins."""
        self._tokens += max(1, len(text) // CHARACTERS_PER_TOKEN)
        if self._tokens < LEAST_TOKENS:
            return False
        self._tokens = 0
        self.ends_at = now + WINDOW_S
        return True
