"""Metrics at an address of their own, for processes without HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from telemetry.server import Server, may_read, serve_metrics
from tests.processes import free_port
from tests.telemetry.conftest import ask

PAGE = b"makegood_info 1\n"


@pytest.fixture
def serve() -> Iterator[object]:
    servers: list[Server] = []

    def begin(*, token: str = "", port: int = 0) -> str:
        port = port or free_port()
        server = serve_metrics(("127.0.0.1", port), render=lambda: PAGE, token=token)
        assert server is not None
        servers.append(server)
        return f"http://127.0.0.1:{port}"

    yield begin
    for server in servers:
        server.shutdown()
        server.server_close()


def test_the_page_is_open_without_a_token(serve) -> None:
    assert ask(f"{serve()}/metrics", authorization=None).text == PAGE.decode()


@pytest.mark.parametrize(("authorization", "status"), [("Bearer t0ken", 200), ("Bearer wrong", 404), (None, 404)])
def test_the_token_is_asked_for_if_there_is_one(serve, authorization: str | None, status: int) -> None:
    assert ask(f"{serve(token='t0ken')}/metrics", authorization=authorization).status == status


@pytest.mark.parametrize("path", ["/", "/metrics/", "/metrics2", "/healthz"])
def test_nothing_else_is_served(serve, path: str) -> None:
    assert ask(f"{serve()}{path}").status == 404


def test_processes_share_an_address(serve) -> None:
    port = free_port()
    serve(port=port)
    assert ask(f"{serve(port=port)}/metrics").status == 200


def test_an_address_that_cannot_be_used_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """The process does its work all the same."""
    assert serve_metrics(("192.0.2.1", 9464), render=lambda: PAGE) is None
    assert "There are no metrics at 192.0.2.1:9464" in caplog.text


@pytest.mark.parametrize("token", ["", "t0ken"])
def test_no_token_opens_nothing_by_being_empty(token: str) -> None:
    assert not may_read("Bearer ", token=token)
    assert not may_read("", token=token)


def test_a_header_of_other_characters_is_wrong() -> None:
    assert not may_read("Bearer tökén", token="t0ken")
