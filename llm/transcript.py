"""The transcript of a recording, read from the server's answer."""

from __future__ import annotations

from dataclasses import dataclass, field

from llm.types import Usage

# More tokens or seconds than any recording has.
MOST_COUNTED = 10_000_000


@dataclass(frozen=True)
class Transcript:
    """The words of a recording, and their usage: tokens, of which `audio_tokens` are sound, or seconds; zero if the server
    reports none.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    audio_tokens: int = 0
    seconds: float = 0


def read_transcript(text: str, counts: object) -> Transcript:
    """The transcript from an answer's words and its `usage`, whose types nobody has checked."""
    return Transcript(
        text,
        Usage(_count_of(counts, "input_tokens"), 0, _count_of(counts, "output_tokens")),
        audio_tokens=_count_of(getattr(counts, "input_token_details", None), "audio_tokens"),
        seconds=_number_of(counts, "seconds"),
    )


def _count_of(counts: object, name: str) -> int:
    return int(_number_of(counts, name))


def _number_of(counts: object, name: str) -> float:
    value = getattr(counts, name, None)
    return value if isinstance(value, int | float) and 0 < value < MOST_COUNTED else 0
