"""Limits on request size and encoding, enforced before Django reads the body."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from django.template.loader import render_to_string

from projects.api.body_room import BodyRoom, BodyShare
from projects.common.api_error import NOTHING_HERE, ApiError
from projects.common.middleware import HEADER, make_request_id

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

WIDGET_PATH = "/widget/"
API_PATHS = ("/api/", WIDGET_PATH)
API_LIMIT = 256 * 1024
UPLOAD_LIMIT = 10 * 1024 * 1024
PAGE_LIMIT = 2_621_440
# E-mails with their files, as providers post them. Postmark takes 35 MB. Of a longer one, which no provider would deliver
# again, the beginning is passed on.
MAIL_LIMIT = 40 * 1024 * 1024
LONGEST_MAIL = 256 * 1024 * 1024
# The form of the customer's page with five files, as browsers without scripts send it.
FORM_LIMIT = 5 * UPLOAD_LIMIT + API_LIMIT
# Bytes of long bodies that a process holds in memory at once, by kind.
UPLOAD_ROOM, MAIL_ROOM, FORM_ROOM = 8 * UPLOAD_LIMIT, 2 * MAIL_LIMIT, 2 * FORM_LIMIT
HEADER_LIMIT = 32 * 1024
BODY_SECONDS = 60.0
# Any page may read why a widget's request was refused: it tells nothing about a customer, and no cookie is sent.
CORS = ((b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", b"Retry-After"))
# The rest of a refused body is read for a moment; otherwise a client that is still sending sees a reset, not the error.
LINGER_SECONDS, LINGER_BYTES = 2.0, 16 * 1024 * 1024


@dataclass(frozen=True)
class LongBody:
    """URLs that take longer bodies. Their open requests share `room` bytes; one that declares at most `free` bytes
    needs none of them. At most `kept` bytes of a body are passed on.
    """

    path: re.Pattern[str]
    limit: int
    room: int
    free: int = -1
    kept: int | None = None


LONG_BODIES = (
    # The body is a file. Those of customers don't take the room of staff.
    LongBody(re.compile(r"/api/v1/conversations/[^/]+/(?:messages/)?attachments"), UPLOAD_LIMIT, UPLOAD_ROOM),
    LongBody(re.compile(r"/(?:widget|c)/[^/]+/attachments"), UPLOAD_LIMIT, UPLOAD_ROOM),
    LongBody(re.compile(r"/hooks/email/[^/]+"), LONGEST_MAIL, MAIL_ROOM, free=PAGE_LIMIT, kept=MAIL_LIMIT),
    LongBody(re.compile(r"/c/[^/]+"), FORM_LIMIT, FORM_ROOM, free=PAGE_LIMIT),
)


class ClientDisconnected(Exception):
    """The client closed the connection before its body was complete."""


class BodyLimit:
    """ASGI middleware that rejects oversized, compressed and unreadable requests with a JSON error, or a page for a
    browser.

    Requests that pass have arrived completely, within a minute, and have a correct Content-Length.
    """

    def __init__(self, app: App, *, limit: int = API_LIMIT) -> None:
        self._app = app
        self._limit = limit
        self._rooms = {kind: BodyRoom(kind.room) for kind in LONG_BODIES}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        kind = _long_body_of(scope)
        if kind is None:
            return await self._serve(scope, receive, send, limit=self._limit_of(scope["path"]))
        with self._rooms[kind].share() as share:
            return await self._serve(scope, receive, send, limit=kind.limit, kept=kind.kept, share=share)

    async def _serve(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        limit: int,
        kept: int | None = None,
        share: BodyShare | None = None,
    ) -> None:
        try:
            scope, receive = await self._checked(scope, receive, limit=limit, kept=kept or limit, share=share)
        except ClientDisconnected:
            return None
        except ApiError as error:
            return await _refuse(error, scope, receive, send)
        return await self._app(scope, receive, send)

    async def _checked(
        self, scope: Scope, receive: Receive, *, limit: int, kept: int, share: BodyShare | None
    ) -> tuple[Scope, Receive]:
        headers = {name.lower(): value for name, value in scope["headers"]}
        _check_head(scope, headers)
        declared = _declared_length(headers)
        if declared is not None and declared > limit:
            raise _too_large(limit, size=declared)
        if not declared and b"transfer-encoding" not in headers and scope.get("http_version") != "2":
            return scope, receive
        body = await _read_body(receive, limit=limit, kept=kept, share=share)
        return _with_length(scope, len(body)), _replay_body(body, receive)

    def _limit_of(self, path: str) -> int:
        return self._limit if path.startswith(API_PATHS) else PAGE_LIMIT


def _long_body_of(scope: Scope) -> LongBody | None:
    """The kind of a long body, or of an e-mail that declares no length; None for any other request."""
    kind = next((one for one in LONG_BODIES if one.path.fullmatch(scope["path"])), None)
    if kind is None or kind.free < 0:
        return kind
    declared = next((value for name, value in scope["headers"] if name.lower() == b"content-length"), None)
    if declared is None:
        return kind if kind.kept is not None and scope.get("method") == "POST" else None
    is_long = bool(declared.isdigit()) and len(declared) <= 18 and int(declared) > kind.free
    return kind if is_long else None


def _check_head(scope: Scope, headers: dict[bytes, bytes]) -> None:
    if sum(len(name) + len(value) for name, value in scope["headers"]) > HEADER_LIMIT:
        raise ApiError("headers_too_large", f"Headers are larger than {_size(HEADER_LIMIT)}.", status=431)
    if headers.get(b"content-encoding", b"identity").strip().lower() not in (b"identity", b""):
        raise ApiError("compressed_body", "Compressed bodies are not accepted.", status=415)
    query = scope.get("query_string", b"")
    if b"%00" in query or not _is_utf8(query):
        raise ApiError("bad_query", "The query must be URL-encoded UTF-8 without NUL characters.")
    # PostgreSQL rejects NUL in a parameter, so no row can have such a name.
    if "\0" in scope["path"]:
        raise ApiError("not_found", NOTHING_HERE, status=404)


def _is_utf8(query: bytes) -> bool:
    """True if the query is URL-encoded UTF-8. Anything else would be decoded to different text and match nothing."""
    try:
        unquote_to_bytes(query).decode()
    except UnicodeDecodeError:
        return False
    return query.isascii()


def _declared_length(headers: dict[bytes, bytes]) -> int | None:
    raw = headers.get(b"content-length")
    if raw is None:
        return None
    if not raw.isdigit() or len(raw) > 18:
        raise ApiError("bad_content_length", "Content-Length must be a number of bytes.")
    return int(raw)


async def _read_body(receive: Receive, *, limit: int, kept: int, share: BodyShare | None) -> bytes:
    """The body, or its first `kept` bytes. Raises ApiError for one over the limit."""
    body, size = bytearray(), 0
    try:
        async with asyncio.timeout(BODY_SECONDS) as clock:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnected
                chunk = message.get("body", b"")
                size += len(chunk)
                if size > limit:
                    raise _too_large(limit)
                kept_chunk = chunk[: kept - len(body)]
                if share is not None:
                    await share.take(len(kept_chunk), clock=clock)
                body += kept_chunk
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError as error:
        raise ApiError("body_too_slow", f"The body did not arrive within {BODY_SECONDS:.0f} s.", status=408) from error


def _with_length(scope: Scope, length: int) -> Scope:
    """Set Content-Length. Django and DRF rely on it, and would take a chunked body for an empty one."""
    kept = [(name, value) for name, value in scope["headers"] if name.lower() != b"content-length"]
    return {**scope, "headers": [*kept, (b"content-length", str(length).encode())]}


def _replay_body(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


async def _refuse(error: ApiError, scope: Scope, receive: Receive, send: Send) -> None:
    request_id = make_request_id()
    is_page = _wants_page(scope)
    body = _page(error) if is_page else json.dumps(error.body(request_id=request_id)).encode()
    headers = [
        (b"content-type", b"text/html; charset=utf-8" if is_page else b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (HEADER.lower().encode(), request_id.encode()),
        *((name.lower().encode(), value.encode()) for name, value in error.headers.items()),
        *(CORS if scope["path"].startswith(WIDGET_PATH) else ()),
    ]
    await send({"type": "http.response.start", "status": error.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            await _drain(receive)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _wants_page(scope: Scope) -> bool:
    """True if a browser asked for a page, outside the addresses of the API."""
    accepted = b",".join(value for name, value in scope["headers"] if name.lower() == b"accept")
    return b"text/html" in accepted and not scope["path"].startswith(API_PATHS)


def _page(error: ApiError) -> bytes:
    return render_to_string("404.html" if error.status_code == 404 else "400.html").encode()


async def _drain(receive: Receive) -> None:
    drained = 0
    while drained < LINGER_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            return
        drained += len(message.get("body", b""))


def _too_large(limit: int, *, size: int | None = None) -> ApiError:
    size_text = f"Body is {_size(size)}" if size else f"Body is over {_size(limit)}"
    return ApiError("body_too_large", f"{size_text}; the limit is {_size(limit)}.", status=413)


def _size(count: int) -> str:
    if count < 1024 * 1024:
        return f"{count / 1024:.0f} kB"
    return f"{count / 1024 / 1024:.1f} MB"
