"""Objects as a storage lists them, in pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

PAGE = 1000


@dataclass(frozen=True)
class ListedObject:
    """An object in a storage. `written_at` is by the storage's clock."""

    name: str
    size: int
    written_at: datetime


Pages = Iterator[Sequence[ListedObject]]
