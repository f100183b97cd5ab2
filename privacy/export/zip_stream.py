"""A ZIP file that is written while it is sent: memory doesn't grow with it, and nothing is stored on the server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import IO
from uuid import UUID
from zipfile import ZIP_DEFLATED, ZipFile

from django.http import StreamingHttpResponse

from outbound.tenant import on_behalf_of
from tenancy.threads import in_db

# Bytes that are collected before they are sent.
LEAST_SENT = 64 * 1024


class _Sink:
    """Collects what the ZIP file writes. It can't seek, so sizes follow the files."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        self.pieces.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: what was written is taken by `ZipStream.take`."""


class ZipStream:
    """A ZIP file. Call `take` after each write, and `close` at the end."""

    def __init__(self) -> None:
        self._sink = _Sink()
        self._zip = ZipFile(self._sink, "w", ZIP_DEFLATED)  # type: ignore[call-overload]  # it needs `write` and `flush`

    def add(self, name: str, data: bytes | str) -> None:
        """Write a whole file."""
        self._zip.writestr(name, data)

    def open(self, name: str) -> IO[bytes]:
        """Begin a file that is written in pieces. Close it before the next one."""
        file: IO[bytes] = self._zip.open(name, "w")
        return file

    def take(self, *, least: int = LEAST_SENT) -> bytes:
        """The bytes written since, or none while they are few."""
        if self._sink.size < least:
            return b""
        data, self._sink.pieces, self._sink.size = b"".join(self._sink.pieces), [], 0
        return data

    def close(self) -> bytes:
        """End the file, and return its last bytes."""
        self._zip.close()
        return self.take(least=0)


def zip_response(pieces: Iterator[bytes], *, name: str, organization_id: UUID) -> StreamingHttpResponse:
    """A download of these pieces. Each one is made in a database thread, once the client has taken the one before."""
    return StreamingHttpResponse(
        _send(pieces, organization_id),
        content_type="application/zip",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "private, no-store",
            "X-Accel-Buffering": "no",
        },
    )


async def _send(pieces: Iterator[bytes], organization_id: UUID) -> AsyncIterator[bytes]:
    """The pieces. An error ends the connection, so that a client doesn't take a part for the whole."""
    while True:
        with on_behalf_of(organization_id):
            piece = await in_db(_next, pieces)
        if piece is None:
            return
        if piece:
            yield piece


def _next(pieces: Iterator[bytes]) -> bytes | None:
    return next(pieces, None)
