"""What became of one attempt at an effect (reliability 2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any


class Ending(StrEnum):
    """How an attempt ended. `NOT_SENT` left nothing behind and may be tried again; `LATER` was accepted, and answers by callback."""

    DONE = "done"
    FAILED = "failed"
    NOT_SENT = "not_sent"
    UNKNOWN = "unknown"
    LATER = "later"


class Signal(StrEnum):
    """What a channel has to obey (T21)."""

    END = "end"
    TRANSFER = "transfer"


@dataclass(frozen=True)
class Outcome:
    """One attempt's end.

    `result` is data for people and the API; `told` is the sentence the agent is told, empty when it needs no word.
    `block` is what the widget shows in place of words, by its `type` (W11).
    `request` is what was sent, without secrets; `excerpt` what came back, cut to 8 kB. `adapter` names who carried it out.
    """

    ending: Ending
    result: Mapping[str, Any] = field(default_factory=dict)
    told: str = ""
    error: str = ""
    request: Mapping[str, Any] | None = None
    excerpt: str = ""
    http_status: int | None = None
    adapter: str = ""
    retry_after_seconds: float | None = None
    signal: Signal | None = None
    block: Mapping[str, Any] | None = None

    def retold(self, told: str) -> Outcome:
        """The same end, told in other words where it is a good one."""
        return replace(self, told=told) if self.ending is Ending.DONE else self

    @classmethod
    def done(cls, told: str, **details: Any) -> Outcome:
        return cls(Ending.DONE, told=told, **details)

    @classmethod
    def failed(cls, error: str, **details: Any) -> Outcome:
        """It certainly did not happen; `error` is one sentence that says why."""
        return cls(Ending.FAILED, error=error, **details)

    @classmethod
    def not_sent(cls, error: str, **details: Any) -> Outcome:
        """Nothing left this machine, or the other side refused for now: it may be tried again."""
        return cls(Ending.NOT_SENT, error=error, **details)

    @classmethod
    def unknown(cls, error: str, **details: Any) -> Outcome:
        """It may have happened."""
        return cls(Ending.UNKNOWN, error=error, **details)
