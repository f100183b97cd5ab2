"""Requests leave no reference cycles: a garbage collection stops every thread of the process."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from config.asgi import application
from tests.conftest import Tenant
from tests.reference_cycles import reference_cycles

TIMES = 5


async def post(tenant: Tenant, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Call the application as a server does, without one: cycles of a server aren't ours. Returns the response's
    document.
    """
    raw, answer = json.dumps(body).encode(), b""
    told = [{"type": "http.request", "body": raw, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not told:
            await asyncio.Event().wait()
        return told.pop()

    async def send(message: dict[str, Any]) -> None:
        nonlocal answer
        answer += message.get("body", b"")

    headers = {
        b"host": b"testserver",
        b"authorization": f"Bearer {tenant.key}".encode(),
        b"content-type": b"application/json",
        b"content-length": str(len(raw)).encode(),
    }
    asked = {"method": "POST", "path": f"/api/v1{path}", "query_string": b"", "headers": list(headers.items())}
    await application({"type": "http", **asked}, receive, send)  # type: ignore[arg-type]  # ASGI's shapes are looser
    return dict(json.loads(answer))


@pytest.mark.parametrize("what", ["conversation", "message", "refusal"])
async def test_a_request_leaves_no_reference_cycles(what: str, tenant: Tenant) -> None:
    begun = {"channel": "api", "persona": {"external_id": "guest"}}
    opened = await post(tenant, "/conversations", begun)
    messages = f"/conversations/{opened['id']}/messages"
    path, body = {
        "conversation": ("/conversations", begun),
        "message": (messages, {"content": "Hello"}),
        "refusal": (messages, {"content": 7}),
    }[what]
    await post(tenant, path, body)
    with reference_cycles() as left:
        for _ in range(TIMES):
            await post(tenant, path, body)
    assert not left
