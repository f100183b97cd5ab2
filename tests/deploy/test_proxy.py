"""nginx with the documented configuration. Skipped where nginx isn't installed."""

from __future__ import annotations

import http.client
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.local_server import LocalServer, RawHandler, RawRequest
from tests.processes import free_port, until
from tests.runner.commands import ROOT, get

NGINX = shutil.which("nginx")
pytestmark = [pytest.mark.whole, pytest.mark.skipif(NGINX is None, reason="needs nginx")]
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
received: list[RawRequest] = []


class Backend(RawHandler):
    def handle(self) -> None:
        received.append(self.read_request())
        self.respond(200, b"", {})


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[int]:
    """The port of an nginx before a server that stores requests in `received`."""
    received.clear()
    [location] = re.findall(
        r"^```\n(location / \{.*?)^```", (ROOT / "docs/operations.md").read_text(), re.MULTILINE | re.DOTALL
    )
    folders = " ".join(f"{name}_temp_path {tmp_path}/{name};" for name in TEMPORARY)
    port = free_port()
    with LocalServer(Backend) as backend:
        location = location.replace("http://127.0.0.1:8000", backend.origin)
        config = tmp_path / "nginx.conf"
        config.write_text(
            f"daemon off; pid {tmp_path}/pid; error_log stderr; events {{}}\n"
            f"http {{ access_log off; {folders} server {{ listen 127.0.0.1:{port}; {location} }} }}\n"
        )
        assert NGINX
        with subprocess.Popen([NGINX, "-c", str(config)], stderr=subprocess.DEVNULL) as process:
            until(lambda: get(port, "/") == 200 or process.poll() is not None, what="nginx")
            received.clear()
            yield port
            process.terminate()


def headers_behind(port: int, **headers: str) -> dict[str, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", "/", headers=headers)
        assert connection.getresponse().status == 200
    return received[-1].headers


def test_nginx_passes_on_the_host_and_the_clients_address(proxy: int) -> None:
    headers = headers_behind(proxy, Host="makegood.example")
    assert headers["host"] == "makegood.example"
    assert headers["x-forwarded-for"] == "127.0.0.1"
    assert headers["x-forwarded-proto"] == "http"
    assert "upgrade" not in headers


def test_nginx_passes_on_websockets(proxy: int) -> None:
    headers = headers_behind(proxy, Connection="Upgrade", Upgrade="websocket")
    assert (headers["connection"].lower(), headers["upgrade"]) == ("upgrade", "websocket")
