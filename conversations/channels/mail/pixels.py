"""The size of a picture, from its first bytes."""

from __future__ import annotations

import struct

# A logo, an icon or a tracking pixel has no more.
SMALLEST_AREA = 14_400
SMALLEST_SIDE = 40
# A picture whose size can't be read is judged by its bytes.
SMALLEST_BYTES = 2_000
MOST_SEGMENTS = 200
FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


def is_small(content: bytes) -> bool:
    """True for a picture that decorates: an icon, a line, a logo."""
    size = read_size(content)
    if size is None:
        return len(content) < SMALLEST_BYTES
    width, height = size
    return min(width, height) < SMALLEST_SIDE or width * height < SMALLEST_AREA


def read_size(content: bytes) -> tuple[int, int] | None:
    """The width and height of a PNG, GIF, JPEG or WebP; None if they can't be read."""
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n"):
            return struct.unpack(">II", content[16:24])
        if content.startswith((b"GIF87a", b"GIF89a")):
            return struct.unpack("<HH", content[6:10])
        if content.startswith(b"\xff\xd8"):
            return _size_of_jpeg(content)
        if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
            return _size_of_webp(content)
    except (struct.error, IndexError):
        return None
    return None


def _size_of_jpeg(content: bytes) -> tuple[int, int] | None:
    at = 2
    for _ in range(MOST_SEGMENTS):
        marker, length = struct.unpack(">HH", content[at : at + 4])
        if marker & 0xFF in FRAMES:
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None


def _size_of_webp(content: bytes) -> tuple[int, int] | None:
    form = content[12:16]
    if form == b"VP8X":
        return 1 + int.from_bytes(content[24:27], "little"), 1 + int.from_bytes(content[27:30], "little")
    if form == b"VP8 ":
        width, height = struct.unpack("<HH", content[26:30])
        return width & 0x3FFF, height & 0x3FFF
    if form == b"VP8L":
        bits = int.from_bytes(content[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return None
