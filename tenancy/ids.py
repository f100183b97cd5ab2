"""Time-ordered random identifiers."""

from __future__ import annotations

import os
import time
import uuid
from datetime import datetime


def uuid7() -> uuid.UUID:
    """A version 7 UUID (RFC 9562): milliseconds, a 12-bit fraction of the millisecond, then random bits.

    The ids of one process are ordered by creation time, with a resolution of a quarter of a microsecond.
    """
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    parts = rest * 4096 // 1_000_000
    random = int.from_bytes(os.urandom(8), "big") & ((1 << 62) - 1)
    return uuid.UUID(int=(milliseconds << 80) | (0x7 << 76) | (parts << 64) | (0x2 << 62) | random)


def uuid7_floor(moment: datetime) -> uuid.UUID:
    """The smallest id created at an aware datetime or later."""
    return uuid.UUID(int=(int(moment.timestamp() * 1000) << 80) | (0x7 << 76) | (0x2 << 62))
