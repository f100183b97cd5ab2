"""Calls of OpenAI's Realtime API, over SIP or WebRTC: their webhook, their verbs, and their control connection."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from outbound.guard import Guard
from outbound.websocket import open_websocket

# The address of a created call ends with its id.
LOCATION = re.compile(r"/([A-Za-z0-9_.:-]{1,200})/?$")
LONGEST_ANSWER = 20_000
# An item that is read back may contain a minute of audio.
MAX_EVENT_BYTES = 8_388_608
LOST = "The connection to the call was lost."


class BadWebhook(ValueError):
    """The webhook isn't signed with this secret, is too old, or is no event."""


class CallGone(Exception):
    """The provider doesn't know this call (any more)."""


class VerbRefused(Exception):
    """The provider refused a verb, with its reason."""


class KeyRefused(VerbRefused):
    """The provider doesn't accept the API key (any more)."""


class MalformedWebhook(Exception):
    """The webhook is signed, but announces no call that can be read. The message is the path of the wrong field."""


class ProviderUnavailable(Exception):
    """The provider can't be reached, or failed. A later try may succeed."""


@dataclass(frozen=True)
class IncomingCall:
    """A call that rings. `headers` are those of the SIP INVITE, by lower-case name; the caller can forge each of them."""

    event_id: str
    call_id: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class CreatedCall:
    """A call that began with a browser's SDP offer. `answer` is the provider's SDP, for the browser."""

    call_id: str
    answer: str


def unwrap_webhook(body: bytes, headers: Mapping[str, str], *, secret: str) -> IncomingCall | None:
    """The call that a signed webhook announces, or None for another event. Raises BadWebhook, MalformedWebhook."""
    # Imported late, as in `llm.client`
    from llm.realtime_sdk import read_webhook

    return read_webhook(body, headers, secret=secret)


@dataclass(frozen=True)
class RealtimeCalls:
    """The calls of one account, reached through the outbound guard."""

    api_key: str = field(repr=False)
    base_url: str
    guard: Guard

    async def create(self, offer: str, session: Mapping[str, Any]) -> CreatedCall:
        """Begin a call with a browser's SDP offer. Raises VerbRefused and ProviderUnavailable.

        The browser's audio then goes to the provider and back, past us.
        """
        answered = await self._ask("create", sdp=offer, session=dict(session))
        location, answer = LOCATION.search(answered.response.headers.get("location", "")), answered.text
        if location is None or not answer.startswith("v=0") or len(answer) > LONGEST_ANSWER:
            raise VerbRefused("The provider's answer to the browser is malformed.")
        return CreatedCall(location[1], answer)

    async def accept(self, call_id: str, session: Mapping[str, Any]) -> None:
        """Answer the call with this session. Raises CallGone, VerbRefused, ProviderUnavailable, as all verbs do."""
        # The SDK walks through what it takes as arguments, which takes longer than all the rest for an agent's tools.
        await self._verb(call_id, "accept", {"type": session["type"], "extra_body": dict(session)})

    async def reject(self, call_id: str, *, status_code: int = 486) -> None:
        """Refuse the call with a SIP status."""
        await self._verb(call_id, "reject", {"status_code": status_code})

    async def refer(self, call_id: str, *, number: str) -> None:
        """Transfer the call to a number in E.164."""
        await self._verb(call_id, "refer", {"target_uri": f"tel:{number}"})

    async def hangup(self, call_id: str) -> None:
        """End the call."""
        await self._verb(call_id, "hangup", {})

    @asynccontextmanager
    async def control(self, call_id: str) -> AsyncIterator[ControlConnection]:
        """The control connection of a call. Raises CallGone, ProviderUnavailable."""
        url = f"{self.base_url.rstrip('/')}/realtime?call_id={call_id}"
        try:
            headers = {"Authorization": f"Bearer {self.api_key}"}
            connection = open_websocket(self.guard, url, headers=headers, max_message_bytes=MAX_EVENT_BYTES)
            async with connection as socket:
                yield ControlConnection(socket)
        except aiohttp.WSServerHandshakeError as error:
            if error.status in (404, 410):
                raise CallGone(call_id) from None
            raise ProviderUnavailable(f"The control connection was refused with {error.status}.") from None
        except (aiohttp.ClientError, TimeoutError, OSError):
            raise ProviderUnavailable(LOST) from None

    async def _verb(self, call_id: str, verb: str, body: Mapping[str, Any]) -> None:
        await self._ask(verb, call_id, **body)

    async def _ask(self, verb: str, *path: str, **body: Any) -> Any:
        from llm.realtime_sdk import ask

        return await ask(self, verb, *path, **body)


@dataclass(frozen=True)
class ControlConnection:
    """The events of a call's session, both ways."""

    _socket: aiohttp.ClientWebSocketResponse

    async def send(self, event: Mapping[str, Any]) -> None:
        """Send one client event. Raises ProviderUnavailable."""
        try:
            await self._socket.send_str(json.dumps(event, ensure_ascii=False))
        except (aiohttp.ClientError, ConnectionError):
            raise ProviderUnavailable(LOST) from None

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """The server's events until the connection closes. What is no JSON object is left out."""
        async for message in self._socket:
            if message.type is aiohttp.WSMsgType.TEXT and (event := _parsed(message.data)):
                yield event

    @property
    def is_closed_by_call(self) -> bool:
        """True if the provider closed the connection because the call is over."""
        return self._socket.close_code == 1000


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        event = json.loads(text)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("type"), str) else None
