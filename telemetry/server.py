"""The metrics at an address of their own, for processes that serve nothing else."""

from __future__ import annotations

import hmac
import logging
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET6
from typing import Any

from telemetry.exposition import CONTENT_TYPE

log = logging.getLogger(__name__)

PATH = "/metrics"


def may_read(authorization: str, *, token: str) -> bool:
    """True if the header `Authorization` carries the operator's token. Takes the same time for every wrong one."""
    return bool(token) and hmac.compare_digest(authorization.encode(), f"Bearer {token}".encode())


def serve_metrics(address: tuple[str, int], *, render: Callable[[], bytes], token: str = "") -> Server | None:
    """Serve the page from a thread. Returns None, with a line in the log, if the address can't be used.

    Several processes of a machine may share an address: each serves the figures of all. Without a token, anyone
    who reaches the address may read it.
    """
    try:
        server = Server(address, render=render, token=token)
    except OSError as error:
        log.error("There are no metrics at %s:%d (%s).", *address, error.strerror or error)
        return None
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server


class Server(ThreadingHTTPServer):
    """An HTTP server with one page."""

    daemon_threads = True
    allow_reuse_address = True
    allow_reuse_port = True

    def __init__(self, address: tuple[str, int], *, render: Callable[[], bytes], token: str) -> None:
        if ":" in address[0]:
            self.address_family = AF_INET6
        self.render = render
        self.token = token
        super().__init__(address, _Page)

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.debug("A request of the metrics broke off.", exc_info=True)


class _Page(BaseHTTPRequestHandler):
    server: Server
    server_version, sys_version = "Makegood", ""
    # A client that says nothing doesn't keep its thread.
    timeout = 5

    def do_GET(self) -> None:
        is_open = not self.server.token or may_read(self.headers.get("Authorization", ""), token=self.server.token)
        if self.path.partition("?")[0] == PATH and is_open:
            self._answer(HTTPStatus.OK, self.server.render())
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"Not found\n", content_type="text/plain")

    def _answer(self, status: HTTPStatus, body: bytes, *, content_type: str = CONTENT_TYPE) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Scrapes are no news."""
