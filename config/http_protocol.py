"""uvicorn's HTTP protocol with a time limit for request heads (`uvicorn --http config.http_protocol:TimedProtocol`)."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# A body has BODY_SECONDS of `projects.api.body_limit`, which starts when its head is complete.
HEAD_SECONDS = 10.0


class TimedProtocol(HttpToolsProtocol):
    """Closes a connection whose request head is incomplete after HEAD_SECONDS.

    The time starts with the connection, and with the first byte of each later request. Bytes don't extend it. Between
    requests, uvicorn's `--timeout-keep-alive` applies, which the first byte of a request ends.
    """

    _head_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        is_idle = self.cycle is not None and self.timeout_keep_alive_task is not None
        if is_idle:
            # Blank lines begin no request, but would end the keep-alive timeout.
            self._start_deadline()
        super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._start_deadline()

    def on_headers_complete(self) -> None:
        self._end_deadline()
        super().on_headers_complete()

    def _start_deadline(self) -> None:
        if self._head_deadline is None:
            self._head_deadline = self.loop.call_later(HEAD_SECONDS, self._close)

    def _end_deadline(self) -> None:
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None

    def _close(self) -> None:
        self._head_deadline = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()
        else:
            # The head of a pipelined request; the response before it is still sent.
            self.cycle.keep_alive = False
