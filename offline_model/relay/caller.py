"""One phone call at Twilio: its webhooks, its instructions and its ConversationRelay session."""

from __future__ import annotations

import asyncio
import json
import xml.etree.ElementTree as ET
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import aiohttp

from offline_model.relay.signing import signature

Json = dict[str, Any]
WEBHOOK_SECONDS = 15.0
# How long a webhook is tried again while nobody listens.
RETRY_SECONDS = 10.0
# Errors of Twilio that end a session: the connection was closed, or not made.
CLOSED, REFUSED = "64105", "64102"


@dataclass
class Caller:
    """A caller and their call. `state` is ringing, connected, dialed, rejected or over.

    `said` holds what the agent's voice was given, a text for each talk cycle; `webhooks` the status of each webhook. If
    `plays` is false, the agent's voice doesn't end until `finish_playing`.
    """

    url: str
    account_sid: str
    token: str
    from_: str
    to: str
    call_sid: str = field(default_factory=lambda: f"CA{uuid4().hex}")
    plays: bool = True
    state: str = "ringing"
    said: list[str] = field(default_factory=list)
    messages: list[Json] = field(default_factory=list)
    webhooks: list[tuple[str, int]] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)
    dialed: str = ""
    dial_status: str = "completed"
    extra: dict[str, str] = field(default_factory=dict)
    _socket: aiohttp.ClientWebSocketResponse | None = None
    _http: aiohttp.ClientSession | None = None
    _is_in_cycle: bool = False
    _is_ended: bool = False
    _is_hung_up: bool = False

    async def ring(self) -> None:
        """Ring, and follow the instructions until the call is over."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(WEBHOOK_SECONDS)) as http:
            self._http = http
            answer = await self._post(self.url, {"CallStatus": "ringing"})
            while answer:
                answer = await self._follow(answer)
        if self.state not in ("rejected", "dialed"):
            self.state = "over"

    async def say(self, text: str, *, language: str = "en-US") -> None:
        """The caller says something."""
        await self.send({"type": "prompt", "voicePrompt": text, "lang": language, "last": True})

    async def press(self, *digits: str) -> None:
        """The caller presses keys."""
        for digit in digits:
            await self.send({"type": "dtmf", "digit": digit})

    async def interrupt(self, utterance: str) -> None:
        """The caller interrupts the agent, after they heard `utterance`."""
        await self.send(
            {"type": "interrupt", "utteranceUntilInterrupt": utterance, "durationUntilInterruptMs": 70 * len(utterance)}
        )
        self._is_in_cycle = False

    async def finish_playing(self) -> None:
        """The agent's voice ends."""
        await self.send({"type": "info", "name": "agentSpeaking", "value": "off"})

    async def hang_up(self) -> None:
        """The caller hangs up."""
        self._is_hung_up = True
        if self._socket is not None:
            await self._socket.close()

    async def cut(self) -> None:
        """Break the WebSocket without a word."""
        if self._socket is not None and self._socket._response.connection is not None:
            transport = self._socket._response.connection.transport
            if transport is not None:
                transport.abort()

    async def send(self, message: Json) -> None:
        """Send one message to the application."""
        if self._socket is None:
            raise RuntimeError("The call isn't connected.")
        await self._socket.send_str(json.dumps(message))

    async def _post(self, url: str, changes: dict[str, str]) -> str:
        """Send a webhook. Returns the instructions, empty if there are none."""
        form = {
            "AccountSid": self.account_sid,
            "CallSid": self.call_sid,
            "From": self.from_,
            "To": self.to,
            "Direction": "inbound",
            "ApiVersion": "2010-04-01",
            **self.extra,
            **changes,
        }
        headers = {"X-Twilio-Signature": signature(url, form, token=self.token)}
        assert self._http is not None
        ends_at = asyncio.get_running_loop().time() + RETRY_SECONDS
        while True:
            try:
                async with self._http.post(url, data=form, headers=headers) as answer:
                    self.webhooks.append((url, answer.status))
                    text = await answer.text() if answer.status == 200 else ""
                    self.instructions.append(text)
                    return text
            except aiohttp.ClientConnectionError:
                if asyncio.get_running_loop().time() > ends_at:
                    return ""
                await asyncio.sleep(0.1)

    async def _follow(self, instructions: str) -> str:
        """Obey the first verb. Returns the instructions that come next."""
        verb = next(iter(ET.fromstring(instructions)), None)  # noqa: S314 - see above
        if verb is None or verb.tag in ("Hangup", "Say"):
            return ""
        if verb.tag == "Reject":
            self.state = "rejected"
            return ""
        if verb.tag == "Dial":
            self.state, self.dialed = "dialed", verb.text or ""
            return await self._post(verb.attrib["action"], {"DialCallStatus": self.dial_status})
        relay = verb[0]
        outcome = await self._relay(relay.attrib["url"])
        return await self._post(verb.attrib["action"], outcome)

    async def _relay(self, url: str) -> dict[str, str]:
        """Run one session. Returns what the action's webhook says about it."""
        assert self._http is not None
        headers = {"X-Twilio-Signature": signature(url, {}, token=self.token)}
        self._is_ended, ending = False, {"SessionId": f"VX{uuid4().hex}", "SessionDuration": "1"}
        try:
            socket = self._socket = await self._http.ws_connect(url, headers=headers, heartbeat=10)
        except (aiohttp.ClientError, OSError):
            return {**ending, "CallStatus": "in-progress", "SessionStatus": "failed", "ErrorCode": REFUSED}
        handoff = ""
        try:
            with suppress(aiohttp.ClientError, OSError):
                handoff = await self._converse(socket)
        finally:
            # A stopped caller closes it, too: a connection that is left open is reported when it is collected.
            self._socket = None
            with suppress(aiohttp.ClientError, OSError):
                await socket.close()
        if self._is_hung_up:
            return {**ending, "CallStatus": "completed", "SessionStatus": "completed"}
        self.state = "ringing"
        if self._is_ended:
            return {**ending, "CallStatus": "in-progress", "SessionStatus": "ended", "HandoffData": handoff}
        return {**ending, "CallStatus": "in-progress", "SessionStatus": "failed", "ErrorCode": CLOSED}

    async def _converse(self, socket: aiohttp.ClientWebSocketResponse) -> str:
        """Hear the agent until the session ends. Returns what the application hands off."""
        await self._set_up()
        self.state = "connected"
        async for frame in socket:
            if frame.type is not aiohttp.WSMsgType.TEXT:
                break
            message = json.loads(frame.data)
            self.messages.append(message)
            if message["type"] == "text":
                await self._on_text(message)
            elif message["type"] == "end":
                self._is_ended = True
                return str(message.get("handoffData", ""))
        return ""

    async def _set_up(self) -> None:
        await self.send(
            {
                "type": "setup",
                "sessionId": f"VX{uuid4().hex}",
                "accountSid": self.account_sid,
                "callSid": self.call_sid,
                "from": self.from_,
                "to": self.to,
                "direction": "inbound",
                "callType": "PSTN",
                "callStatus": "RINGING",
                "customParameters": {},
            }
        )

    async def _on_text(self, message: Json) -> None:
        if self._is_in_cycle:
            self.said[-1] += message["token"]
        else:
            # In one step, because tests read it from another thread.
            self.said.append(message["token"])
            self._is_in_cycle = True
            await self.send({"type": "info", "name": "agentSpeaking", "value": "on"})
        if self.plays and message["token"]:
            await self.send({"type": "info", "name": "tokensPlayed", "value": message["token"]})
        if message["last"]:
            self._is_in_cycle = False
            if self.plays:
                await self.finish_playing()
