"""The size of an image in pixels, read from its head without decoding it."""

from __future__ import annotations

import struct

# Markers of JPEG frames; the others in this range define tables.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# Cameras write a few dozen. It bounds the time that a hostile file takes.
MOST_SEGMENTS = 100_000


def pixels_of(content: bytes) -> int:
    """Width times height; 0 if the size can't be read."""
    width, height = read_size(content) or (0, 0)
    return width * height


def read_size(content: bytes) -> tuple[int, int] | None:
    """The width and height of a PNG, GIF, JPEG or WebP; None if they can't be read."""
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n"):
            return _pair(">II", content, 16)
        if content.startswith((b"GIF87a", b"GIF89a")):
            return _pair("<HH", content, 6)
        if content.startswith(b"\xff\xd8"):
            return _jpeg(content)
        if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
            return _webp(content)
    except (struct.error, IndexError):
        return None
    return None


def _webp(content: bytes) -> tuple[int, int]:
    form = content[12:16]
    if form == b"VP8X":
        return 1 + int.from_bytes(content[24:27], "little"), 1 + int.from_bytes(content[27:30], "little")
    if form == b"VP8L":
        (packed,) = struct.unpack_from("<I", content, 21)
        return 1 + (packed & 0x3FFF), 1 + (packed >> 14 & 0x3FFF)
    width, height = _pair("<HH", content, 26)
    return width & 0x3FFF, height & 0x3FFF


def _jpeg(content: bytes) -> tuple[int, int] | None:
    at = 2
    for _ in range(MOST_SEGMENTS):
        if content[at] != 0xFF:
            return None
        if content[at + 1] in _FRAMES:
            height, width = _pair(">HH", content, at + 5)
            return width, height
        at += 2 + int(struct.unpack_from(">H", content, at + 2)[0])
    return None


def _pair(form: str, content: bytes, at: int) -> tuple[int, int]:
    first, second = struct.unpack_from(form, content, at)
    return first, second
