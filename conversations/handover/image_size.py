"""The size of an image in pixels, read from its head without decoding it."""

from __future__ import annotations

import struct

# Markers of JPEG frames; the others in this range define tables.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def pixels_of(content: bytes, content_type: str) -> int:
    """Width times height; 0 for anything but an image, and for one whose head is incomplete."""
    read = {"image/png": _png, "image/gif": _gif, "image/webp": _webp, "image/jpeg": _jpeg}.get(content_type)
    try:
        width, height = read(content) if read else (0, 0)
    except (struct.error, IndexError):
        return 0
    return int(width * height)


def _png(content: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", content, 16)
    return width, height


def _gif(content: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", content, 6)
    return width, height


def _webp(content: bytes) -> tuple[int, int]:
    form = content[12:16]
    if form == b"VP8X":
        return 1 + int.from_bytes(content[24:27], "little"), 1 + int.from_bytes(content[27:30], "little")
    if form == b"VP8L":
        (packed,) = struct.unpack_from("<I", content, 21)
        return 1 + (packed & 0x3FFF), 1 + (packed >> 14 & 0x3FFF)
    width, height = struct.unpack_from("<HH", content, 26)
    return width & 0x3FFF, height & 0x3FFF


def _jpeg(content: bytes) -> tuple[int, int]:
    at = 2
    while content[at] == 0xFF:
        if content[at + 1] in _FRAMES:
            height, width = struct.unpack_from(">HH", content, at + 5)
            return width, height
        at += 2 + int(struct.unpack_from(">H", content, at + 2)[0])
    return 0, 0
