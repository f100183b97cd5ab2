"""Log of the requests that the offline model received."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

MAX_REQUESTS = 5000
MAX_BYTES = 64_000_000


@dataclass
class Record:
    """One request. Times are unix seconds; `ended` is None while it runs."""

    n: int
    skill: str
    model: str
    stream: bool
    messages: list[dict[str, str]]
    response_format: str
    tools: list[str]
    prompt_bytes: int
    authorization: bool
    pictures: int = 0
    arrived: float = field(default_factory=time.time)
    first_byte: float | None = None
    ended: float | None = None
    cancelled: bool = False
    status: int = 0


class RequestLog:
    """The newest requests, bounded in number and in bytes."""

    def __init__(self) -> None:
        self.records: deque[Record] = deque()
        self.total = 0
        self.held_bytes = 0
        self.in_flight = 0

    def open(self, **values: Any) -> Record:
        self.total += 1
        record = Record(n=self.total, **values)
        self.records.append(record)
        self.held_bytes += record.prompt_bytes
        self.in_flight += 1
        while len(self.records) > MAX_REQUESTS or self.held_bytes > MAX_BYTES:
            self.held_bytes -= self.records.popleft().prompt_bytes
        return record

    def close(self, record: Record, *, cancelled: bool) -> None:
        record.ended = time.time()
        record.cancelled = cancelled
        self.in_flight -= 1

    def clear(self) -> None:
        """Clear the log; running requests still count as in flight."""
        self.records.clear()
        self.total = self.held_bytes = 0

    def since(self, n: int) -> list[dict[str, Any]]:
        return [asdict(record) for record in self.records if record.n > n]


def named(messages: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in messages]
