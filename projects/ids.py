"""Identifiers: random, and ordered by the time they were made."""

from __future__ import annotations

import os
import time
import uuid


def uuid7() -> uuid.UUID:
    """A version 7 UUID (RFC 9562): 48 bits of milliseconds, then random bits, so that indexes grow at one end."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds << 80) | (int.from_bytes(os.urandom(10), "big"))
    value = (value & ~(0xF << 76)) | (0x7 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return uuid.UUID(int=value)
