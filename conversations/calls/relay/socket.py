"""The WebSocket that Twilio opens for a call: verified at the handshake, and by its first message."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, cast
from uuid import UUID

from conversations.calls.relay import twiml
from conversations.calls.relay.session import Hangup, RelaySession
from conversations.calls.relay.store import PROVIDER, RelayedCall, take_call
from conversations.calls.relay.waiting import relayed
from conversations.calls.relay.webhooks import SignedRequest, signed_accounts
from conversations.models import OPEN_STATES, Call
from projects.connections.twilio import SIGNATURE
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

log = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
SETUP_SECONDS = 10.0
# Close codes of the WebSocket protocol.
POLICY, GOING_ON = 1008, 1000


async def relay_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one WebSocket. One that Twilio didn't sign is refused with 403 before it opens."""
    if (await receive())["type"] != "websocket.connect":
        return
    opened = await in_db(_open, scope)
    if opened is None:
        await send({"type": "websocket.close", "code": POLICY})
        return
    await send({"type": "websocket.accept"})
    call, call_sid = opened
    socket = _Socket(receive, send)
    try:
        held = await in_db(take_call, call) if await _is_set_up(socket, call_sid) else None
        if held is None:
            await socket.close(POLICY)
            return
        await RelaySession(held, receive=socket.read, send=socket.write).run()
        await socket.close(GOING_ON)
    except Hangup:
        # Nobody is at the other end.
        return


def _open(scope: Scope) -> tuple[RelayedCall, str] | None:
    """The live call that the handshake is for, and its id at Twilio; None if the handshake isn't signed."""
    path = str(scope["path"])
    sid, _, call_id = path.removeprefix(f"{twiml.SOCKET}/").partition("/")
    try:
        pk = UUID(call_id)
    except ValueError:
        return None
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    given = headers.get(SIGNATURE.lower(), "")
    request = SignedRequest(twiml.socket_address(sid, pk), {}, given, account_sid=sid)
    for ref, _ in signed_accounts(request):
        with tenant_tx(ref.organization_id):
            rows = Call.objects.filter(project_id=ref.project_id, provider=PROVIDER, state__in=OPEN_STATES)
            if (row := rows.filter(pk=pk).first()) is not None:
                return relayed(row), row.external_id
    return None


async def _is_set_up(socket: _Socket, call_sid: str) -> bool:
    """True if Twilio's first message names the call that the address was made for."""
    try:
        async with asyncio.timeout(SETUP_SECONDS):
            setup = await socket.read()
    except TimeoutError:
        return False
    return setup.get("type") == "setup" and setup.get("callSid") == call_sid


class _Socket:
    """JSON messages over an ASGI WebSocket."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._is_closed = False

    async def read(self) -> dict[str, Any]:
        """The next message that is a JSON object. Raises Hangup."""
        while True:
            event = await self._receive()
            if event["type"] == "websocket.disconnect":
                self._is_closed = True
                raise Hangup
            if (message := _parsed(event.get("text") or "")) is not None:
                return message

    async def write(self, message: dict[str, Any]) -> None:
        """Send one message. Raises Hangup."""
        if self._is_closed:
            raise Hangup
        try:
            await self._send({"type": "websocket.send", "text": json.dumps(message, ensure_ascii=False)})
        except (OSError, RuntimeError):
            raise Hangup from None

    async def close(self, code: int) -> None:
        if not self._is_closed:
            self._is_closed = True
            try:
                await self._send({"type": "websocket.close", "code": code})
            except (OSError, RuntimeError):
                log.debug("The WebSocket was closed already.")


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None
