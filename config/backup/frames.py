"""The content of a backup: frames in one compressed stream.

A frame is a letter, the length of its payload in four bytes, and the payload. A backup consists of the manifest, then for
each table its name, its rows in blocks and their count, and at the end the count of tables. A stream that ends before
that was cut.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from config.backup.errors import BackupError

HEAD = struct.Struct(">cI")
# Level 1 halves the size at a third of the time of the default level, beside traffic that needs the CPU.
LEVEL = 1
BLOCK = 1 << 18
# No block of rows is larger. One row is a block of its own if it is longer than BLOCK; PostgreSQL's rows end at 1 GB.
LARGEST = 1 << 30
CUT = "The backup is damaged or was cut off: use another copy of the file."


class Kind(Enum):
    """The letter of a frame."""

    MANIFEST = b"M"
    TABLE = b"T"
    ROWS = b"R"
    COUNT = b"C"
    END = b"E"


@dataclass(frozen=True)
class Frame:
    """One frame."""

    kind: Kind
    payload: bytes


def pack(frames: Iterable[Frame]) -> Iterator[bytes]:
    """The compressed bytes of frames."""
    deflate = zlib.compressobj(LEVEL)
    for frame in frames:
        yield deflate.compress(HEAD.pack(frame.kind.value, len(frame.payload)))
        yield deflate.compress(frame.payload)
    yield deflate.flush()


def unpack(compressed: Iterable[bytes]) -> Iterator[Frame]:
    """The frames of compressed bytes. Raises BackupError if they end early or make no sense."""
    buffer, is_ended = bytearray(), False
    for plain in _inflate(compressed):
        buffer += plain
        while not is_ended and (frame := _take(buffer)) is not None:
            is_ended = frame.kind is Kind.END
            yield frame
        if is_ended and buffer:
            raise BackupError(CUT)
    if not is_ended:
        raise BackupError(CUT)


def _inflate(compressed: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress in blocks, so that a small input can't fill the memory."""
    inflate = zlib.decompressobj()
    for chunk in compressed:
        rest = chunk
        while rest:
            try:
                plain = inflate.decompress(rest, BLOCK)
            except zlib.error as error:
                raise BackupError(CUT) from error
            yield plain
            rest = inflate.unconsumed_tail
        if inflate.unused_data:
            raise BackupError(CUT)


def _take(buffer: bytearray) -> Frame | None:
    """Remove the first frame from the buffer, or return None if it isn't complete."""
    if len(buffer) < HEAD.size:
        return None
    letter, length = HEAD.unpack_from(buffer)
    if length > LARGEST:
        raise BackupError(CUT)
    if len(buffer) < HEAD.size + length:
        return None
    payload = bytes(buffer[HEAD.size : HEAD.size + length])
    del buffer[: HEAD.size + length]
    try:
        return Frame(Kind(letter), payload)
    except ValueError as error:
        raise BackupError(CUT) from error
