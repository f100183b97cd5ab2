"""Request size limits, against a real server."""

from __future__ import annotations

import asyncio
import json
import select
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from projects.api.body_limit import (
    API_LIMIT,
    LONGEST_MAIL,
    MAIL_LIMIT,
    MAIL_ROOM,
    PAGE_LIMIT,
    UPLOAD_LIMIT,
    UPLOAD_ROOM,
    BodyLimit,
)
from tests.api.live import Address, serve

KB = 1024
UPLOAD = "/api/v1/conversations/0198c0de-0000-7000-8000-000000000000/attachments"


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the received headers about the body, and the body."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message["body"]
        more = message["more_body"]
    told = dict(scope["headers"]).get(b"content-length", b"")
    answer = body[:100]
    headers = [(b"x-told", told), (b"content-length", b"%d" % len(answer))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


@pytest.fixture(scope="module", params=["httptools", "h11"])
def server(request: pytest.FixtureRequest) -> Iterator[Address]:
    with serve(BodyLimit(echo), http=request.param) as address:
        yield address


class Answer:
    """A parsed HTTP response, read until the server closes or `Content-Length` is reached."""

    def __init__(self, raw: bytes) -> None:
        head, _, self.body = raw.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(status.split()[1])
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}

    @property
    def error(self) -> dict[str, Any]:
        error = json.loads(self.body)["error"]
        assert set(error) == {"code", "message", "field", "request_id"}
        assert self.headers["x-request-id"] == error["request_id"]
        assert self.headers["content-type"] == "application/json"
        return error  # type: ignore[no-any-return]


@pytest.fixture
def unsent(monkeypatch: pytest.MonkeyPatch) -> None:
    """For requests without the body that they declare: the server waits for the rest of it only for a moment."""
    monkeypatch.setattr("projects.api.body_limit.LINGER_SECONDS", 0.05)


def ask(address: Address, head: str, body: bytes = b"", *, path: str = "/api/v1/x") -> Answer:
    """Send one request on its own connection, which the server must close."""
    with closing(socket.create_connection(address, timeout=30)) as connection:
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{head}\r\n".encode("latin-1"))
        connection.sendall(body)
        raw = b""
        while chunk := connection.recv(65536):
            raw += chunk
    return Answer(raw)


def chunked(*chunks: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def test_a_body_of_256_kb_passes(server: Address) -> None:
    answer = ask(server, f"Content-Length: {256 * KB}\r\n", b"a" * 256 * KB)
    assert (answer.status, answer.headers["x-told"]) == (200, str(256 * KB))


def test_one_byte_more_is_413(server: Address) -> None:
    answer = ask(server, f"Content-Length: {256 * KB + 1}\r\n", b"a" * (256 * KB + 1))
    assert answer.status == 413
    assert answer.error["code"] == "body_too_large"


def test_3_mb_are_413_with_both_sizes(server: Address) -> None:
    """The whole body is sent before the response is read, as most clients do."""
    answer = ask(server, f"Content-Length: {3 * KB * KB}\r\n", b"a" * 3 * KB * KB)
    assert answer.status == 413
    assert answer.error["message"] == "Body is 3.0 MB; the limit is 256 kB."
    assert answer.headers["connection"] == "close"


def test_a_declared_size_is_refused_before_the_body_comes(server: Address) -> None:
    with closing(socket.create_connection(server, timeout=30)) as connection:
        connection.sendall(b"POST /api/ HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000000\r\n\r\n")
        raw = b""
        while not raw.endswith(b"}"):
            raw += connection.recv(65536)
    assert Answer(raw).status == 413


def test_a_client_that_expects_100_continue_gets_413(server: Address) -> None:
    with closing(socket.create_connection(server, timeout=30)) as connection:
        connection.sendall(b"POST /api/ HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\nExpect: 100-continue\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")


def test_a_chunked_body_arrives_with_its_true_length(server: Address) -> None:
    answer = ask(server, "Transfer-Encoding: chunked\r\n", chunked(b'{"a":', b"1}"))
    assert (answer.status, answer.body, answer.headers["x-told"]) == (200, b'{"a":1}', "7")


def test_an_oversized_chunked_body_is_413(server: Address) -> None:
    chunks = b"a" * 128 * KB, b"a" * 128 * KB
    assert ask(server, "Transfer-Encoding: chunked\r\n", chunked(*chunks)).status == 200
    assert ask(server, "Transfer-Encoding: chunked\r\n", chunked(*chunks, b"a")).status == 413


def test_a_refusal_can_be_neither_cached_nor_framed(server: Address) -> None:
    """The refusal happens before the middleware that sets these headers elsewhere."""
    headers = ask(server, "Content-Encoding: gzip\r\n").headers
    assert (headers["cache-control"], headers["x-frame-options"]) == ("no-store", "DENY")
    assert headers["x-content-type-options"] == "nosniff"


def test_an_endless_chunked_body_is_413_and_closed(server: Address) -> None:
    with closing(socket.create_connection(server, timeout=30)) as connection:
        connection.sendall(b"POST /api/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        raw = pour(connection, b"8000\r\n" + b"a" * 0x8000 + b"\r\n")
    answer = Answer(raw)
    assert answer.status == 413
    assert answer.error["message"] == "Body is over 256 kB; the limit is 256 kB."


def pour(connection: socket.socket, chunk: bytes) -> bytes:
    """Send the chunk repeatedly until the server closes; returns the response."""
    raw, pending = b"", b""
    while True:
        readable, writable, _ = select.select([connection], [connection], [], 30)
        try:
            if readable:
                said = connection.recv(65536)
                if not said:
                    return raw
                raw += said
            elif writable:
                pending = pending or chunk
                pending = pending[connection.send(pending, socket.MSG_DONTWAIT) :]
        except ConnectionError:
            return raw


def test_bytes_after_the_declared_length_are_not_part_of_the_body(server: Address) -> None:
    with closing(socket.create_connection(server, timeout=30)) as connection:
        connection.sendall(b"POST /api/ HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}and more")
        answer = Answer(connection.recv(65536))
    # One server handles the body, the other refuses the bytes after it.
    assert answer.status == 400 or answer.body == b"{}"


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "0x10"])
def test_a_non_numeric_length_is_400(server: Address, length: str) -> None:
    assert ask(server, f"Content-Length: {length}\r\n").status == 400


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "deflate", "br", "identity, gzip", "nonsense"])
def test_a_compressed_body_is_415(server: Address, encoding: str) -> None:
    answer = ask(server, f"Content-Encoding: {encoding}\r\nContent-Length: 2\r\n", b"{}")
    assert answer.status == 415
    assert answer.error["message"] == "Compressed bodies are not accepted."


@pytest.mark.parametrize("encoding", ["identity", "Identity", ""])
def test_identity_encoding_is_accepted(server: Address, encoding: str) -> None:
    assert ask(server, f"Content-Encoding: {encoding}\r\nContent-Length: 2\r\n", b"{}").status == 200


def test_pages_accept_larger_bodies_than_the_api(server: Address) -> None:
    body = b"a" * 300 * KB
    assert ask(server, f"Content-Length: {len(body)}\r\n", body, path="/account/").status == 200


def test_pages_have_a_limit_too(server: Address) -> None:
    body = b"a" * 3 * KB * KB
    answer = ask(server, f"Content-Length: {len(body)}\r\n", body, path="/account/")
    assert answer.error["message"] == "Body is 3.0 MB; the limit is 2.5 MB."


@pytest.mark.parametrize(
    ("path", "status", "title"),
    [("/p/x/conversations?q=%00", 400, "Error 400"), ("/p/x/tools/a%00b", 404, "Error 404")],
)
def test_a_browser_gets_a_page(server: Address, path: str, status: int, title: str) -> None:
    answer = ask(server, "Accept: text/html,*/*;q=0.8\r\n", path=path)
    assert (answer.status, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert title in answer.body.decode()


@pytest.mark.usefixtures("unsent")
@pytest.mark.parametrize("path", ["/api/v1/x", "/widget/talk"])
def test_an_api_address_answers_a_browser_with_json(server: Address, path: str) -> None:
    assert ask(server, "Accept: text/html,*/*;q=0.8\r\n", path=f"{path}?q=%00").error["code"] == "bad_query"
    assert ask(server, f"Content-Length: {300 * KB}\r\n", path=path).status == 413


@pytest.mark.usefixtures("unsent")
@pytest.mark.parametrize(("path", "readable"), [("/widget/pk_x/attachments", "*"), (UPLOAD, None), ("/c/x", None)])
def test_a_page_of_another_origin_reads_why_the_widget_was_refused(
    server: Address, path: str, readable: str | None
) -> None:
    answer = ask(server, f"Origin: https://shop.example\r\nContent-Length: {99 * KB * KB}\r\n", path=path)
    assert (answer.status, answer.headers.get("access-control-allow-origin")) == (413, readable)


def test_headers_beyond_32_kb_are_431(server: Address) -> None:
    assert ask(server, f"X-Long: {'a' * 33 * KB}\r\n").error["code"] == "headers_too_large"


@pytest.mark.parametrize("query", ["a=%00", "project=x%00y"])
def test_a_nul_in_the_query_is_400(server: Address, query: str) -> None:
    assert ask(server, "", path=f"/api/?{query}").error["code"] == "bad_query"


@pytest.mark.parametrize("query", ["q=caff%E8", "q=%ED%A0%80", "q=%C0%80"])
def test_a_query_with_invalid_utf8_is_400(server: Address, query: str) -> None:
    """Decoded differently, it would match nothing without an explanation."""
    assert ask(server, "", path=f"/api/?{query}").error["code"] == "bad_query"
    assert ask(server, "", path="/api/?q=caff%C3%A8%zz").status == 200


def test_a_raw_byte_in_the_query_is_400(server: Address) -> None:
    assert ask(server, "", path="/api/?a=\xff").status == 400


def test_a_connection_stays_open_after_a_small_body(server: Address) -> None:
    request = b"POST /api/ HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
    with closing(socket.create_connection(server, timeout=30)) as connection:
        for _ in range(2):
            connection.sendall(request)
            raw = b""
            while not raw.endswith(b"{}"):
                raw += connection.recv(65536)
            assert raw.startswith(b"HTTP/1.1 200")


async def test_a_client_that_disconnects_never_reaches_the_view() -> None:
    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def never(*_: Any) -> None:
        raise AssertionError

    scope = {"type": "http", "path": "/api/", "headers": [(b"content-length", b"9")], "query_string": b""}
    await BodyLimit(never)(scope, receive, never)


async def test_a_body_that_never_arrives_is_408(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("projects.api.body_limit.BODY_SECONDS", 0.01)
    monkeypatch.setattr("projects.api.body_limit.LINGER_SECONDS", 0.01)
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/api/", "headers": [(b"content-length", b"9")], "query_string": b""}
    await BodyLimit(echo)(scope, receive, send)
    assert sent[0]["status"] == 408


def test_a_file_may_be_larger_than_other_bodies(server: Address) -> None:
    body = bytes(API_LIMIT + 1)
    head = f"Content-Length: {len(body)}\r\n"
    assert ask(server, head, body, path=UPLOAD).status == 200
    assert ask(server, head, body).status == 413
    assert ask(server, f"Content-Length: {UPLOAD_LIMIT + 1}\r\n", path=UPLOAD).status == 413


def asking(path: str, size: int) -> dict[str, Any]:
    headers = [(b"content-length", b"%d" % size)]
    return {"type": "http", "path": path, "headers": headers, "query_string": b""}


def sender(*chunks: bytes, then: asyncio.Event | None = None) -> Any:
    """A client that sends these pieces, the last one after an event."""
    left = list(chunks)

    async def receive() -> Any:
        if then is not None and len(left) == 1:
            await then.wait()
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    return receive


async def nowhere(message: Any) -> None:
    pass


async def test_few_long_bodies_are_held_in_memory_at_once() -> None:
    """The others are not read before one of them has been answered."""
    held, most, served = 0, 0, 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal held, most, served
        held += 1
        most = max(most, held)
        await asyncio.sleep(0.01)
        held, served = held - 1, served + 1

    limited, at_once = BodyLimit(app), UPLOAD_ROOM // UPLOAD_LIMIT
    body = bytes(UPLOAD_LIMIT)
    await asyncio.gather(*(limited(asking(UPLOAD, len(body)), sender(body), nowhere) for _ in range(2 * at_once)))
    # The oldest needs no room.
    assert (most <= at_once + 1, served) == (True, 2 * at_once)


async def test_slow_uploads_keep_nobody_waiting() -> None:
    """However many they are: they hold what has arrived, and no turn."""
    served, end = list[str](), asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        served.append(scope["path"])

    limited = BodyLimit(app)
    slow = [
        asyncio.ensure_future(limited(asking(UPLOAD, 2), sender(b"x", b"x", then=end), nowhere)) for _ in range(100)
    ]
    await asyncio.sleep(0)
    await limited(asking(UPLOAD, 1), sender(b"x"), nowhere)
    before = len(served)
    end.set()
    await asyncio.gather(*slow)
    assert (before, len(served)) == (1, 101)


async def test_bodies_that_have_arrived_in_part_do_not_wait_for_each_other() -> None:
    """Together they need more room than there is."""
    served = 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal served
        served += 1

    limited, half = BodyLimit(app), bytes(UPLOAD_LIMIT // 2)
    many = 2 * UPLOAD_ROOM // UPLOAD_LIMIT
    bodies = (limited(asking(UPLOAD, UPLOAD_LIMIT), sender(half, half), nowhere) for _ in range(many))
    await asyncio.wait_for(asyncio.gather(*bodies), 10)
    assert served == many


async def test_the_wait_for_room_is_not_the_clients_slowness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("projects.api.body_limit.BODY_SECONDS", 0.2)
    end, served = asyncio.Event(), 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal served
        served += 1
        await end.wait()

    limited, body = BodyLimit(app), bytes(UPLOAD_LIMIT)
    many = UPLOAD_ROOM // UPLOAD_LIMIT + 3
    tasks = [asyncio.ensure_future(limited(asking(UPLOAD, len(body)), sender(body), nowhere)) for _ in range(many)]
    await asyncio.sleep(0.4)
    before = served
    end.set()
    await asyncio.gather(*tasks)
    assert (before < many, served) == (True, many)


async def test_too_many_that_wait_for_room_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("projects.api.body_room.MAX_WAITING", 0)
    end, sent = asyncio.Event(), list[Any]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await end.wait()

    async def send(message: Any) -> None:
        sent.append(message)

    limited, body = BodyLimit(app), bytes(UPLOAD_LIMIT)
    tasks = [
        asyncio.ensure_future(limited(asking(UPLOAD, len(body)), sender(body), nowhere))
        for _ in range(UPLOAD_ROOM // UPLOAD_LIMIT)
    ]
    await asyncio.sleep(0)
    await limited(asking(UPLOAD, 1), sender(b"x", b""), send)
    end.set()
    await asyncio.gather(*tasks)
    assert (sent[0]["status"], dict(sent[0]["headers"])[b"retry-after"]) == (503, b"5")


MAIL = "/hooks/email/01890a5d-ac96-774b-bcce-b302099a8057"


def test_an_email_may_be_longer(server: Address) -> None:
    body = b"x" * (PAGE_LIMIT + 1)
    head = f"Content-Length: {len(body)}\r\n"
    assert ask(server, head, body, path=MAIL).status == 200
    assert ask(server, head, body, path="/hooks/twilio/messages").status == 413
    assert ask(server, f"Content-Length: {LONGEST_MAIL + 1}\r\n", path=MAIL).status == 413


def test_the_beginning_of_an_oversized_email_is_passed_on(server: Address) -> None:
    body = bytes(MAIL_LIMIT + 1)
    assert ask(server, f"Content-Length: {len(body)}\r\n", body, path=MAIL).status == 200


async def test_long_emails_wait_for_each_other_and_short_ones_for_nobody() -> None:
    held, end, at_once = 0, asyncio.Event(), MAIL_ROOM // MAIL_LIMIT
    begun = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal held
        held += 1
        if held >= at_once + 1:
            begun.set()
        await end.wait()

    limited, body = BodyLimit(app), bytes(MAIL_LIMIT)
    async with asyncio.TaskGroup() as group:
        for _ in range(at_once + 3):
            group.create_task(limited(asking(MAIL, len(body)), sender(body), nowhere))
        await asyncio.sleep(0)
        group.create_task(limited(asking(MAIL, 1), sender(b"x"), nowhere))
        await asyncio.wait_for(begun.wait(), 10)
        before = held
        end.set()
    assert (before, held) == (at_once + 1, at_once + 4)
