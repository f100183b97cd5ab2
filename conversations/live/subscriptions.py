"""Redis subscriptions of an event loop: one task sends commands, one listens."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from enum import Enum

from django.conf import settings
from redis import RedisError
from redis import TimeoutError as RedisTimeout
from redis.asyncio.connection import AbstractConnection

from conversations.live.client import CONNECT_SECONDS, new_connection

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.5


class State(Enum):
    """The last command sent for a channel, and whether Redis confirmed it. Channels without a state are not subscribed."""

    ASKED = "asked"
    SUBSCRIBED = "subscribed"
    LEFT = "left"


class Subscriptions:
    """The channels of one event loop. `deliver` gets the name and data of each message.

    Subscribers never talk to Redis themselves: one canceled halfway would leave a command in an unknown state. A
    channel is left only after its subscription was confirmed, and subscribed again only after it was left, so a
    confirmation always belongs to the last command. After any failure the connection is replaced and the wanted
    channels are subscribed again.
    """

    def __init__(self, deliver: Callable[[str, bytes], None]) -> None:
        self._deliver = deliver
        # Awaited by new subscribers.
        self._confirmed: dict[str, asyncio.Event] = {}
        self._states: dict[str, State] = {}
        self._changed: set[str] = set()
        self._change_event = asyncio.Event()
        self._is_silent = False
        self._task: asyncio.Task[None] | None = None

    def subscribe(self, name: str) -> None:
        """Subscribe to a channel. Idempotent."""
        confirmed = self._confirmed.setdefault(name, asyncio.Event())
        if self._states.get(name) is State.SUBSCRIBED:
            confirmed.set()
        self._change(name)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    def unsubscribe(self, name: str) -> None:
        """Unsubscribe from a channel."""
        del self._confirmed[name]
        self._change(name)

    async def is_confirmed(self, name: str, *, within: float) -> bool:
        """Return True if the channel's subscription is confirmed within this many seconds; later messages are then
        received.
        """
        confirmed = self._confirmed[name]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await confirmed.wait()
        return confirmed.is_set()

    def _change(self, *names: str) -> None:
        self._changed.update(names)
        self._change_event.set()

    async def _run(self) -> None:
        """Run one connection after the other."""
        while True:
            connection = new_connection()
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await connection.connect()  # type: ignore[no-untyped-call]
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._send_commands(connection))
                    both.create_task(self._listen(connection))
                    both.create_task(self._require_answers(connection))
            except* (RedisError, OSError) as lost:
                log.warning(
                    "The live stream lost Redis (%s); streams poll meanwhile.", type(lost.exceptions[0]).__name__
                )
            except* Exception:  # one failed connection must not stop the next
                log.exception("The live stream's connection to Redis failed; streams poll meanwhile.")
            finally:
                await connection.disconnect(nowait=True)
            self._reset()
            await asyncio.sleep(RETRY_SECONDS)

    async def _send_commands(self, connection: AbstractConnection) -> None:
        """Send commands for the changed channels."""
        while True:
            await self._change_event.wait()
            self._change_event.clear()
            names, self._changed = self._changed, set()
            wanted = names & self._confirmed.keys()
            await self._send(connection, "SUBSCRIBE", wanted - self._states.keys(), State.ASKED)
            subscribed = {name for name in names - wanted if self._states.get(name) is State.SUBSCRIBED}
            await self._send(connection, "UNSUBSCRIBE", subscribed, State.LEFT)

    async def _send(self, connection: AbstractConnection, command: str, names: set[str], state: State) -> None:
        if names:
            self._states.update(dict.fromkeys(names, state))
            await connection.send_command(command, *names)

    async def _listen(self, connection: AbstractConnection) -> None:
        while True:
            answer = await connection.read_response()
            self._is_silent = False
            # A ping is answered by a word, or by a list while channels are subscribed.
            if isinstance(answer, list) and answer[0] != b"pong":
                kind, channel, data = answer
                self._handle(kind, channel.decode(), data)

    async def _require_answers(self, connection: AbstractConnection) -> None:
        """Ping, and give the connection up if nothing arrives. Raises redis.TimeoutError."""
        while True:
            self._is_silent = True
            await connection.send_command("PING")
            await asyncio.sleep(settings.REDIS_SILENCE_SECONDS)
            if self._is_silent:
                raise RedisTimeout("Redis did not answer a ping.")

    def _handle(self, kind: bytes, name: str, data: bytes) -> None:
        if kind == b"message":
            self._deliver(name, data)
        elif kind == b"subscribe":
            self._states[name] = State.SUBSCRIBED
            if name in self._confirmed:
                self._confirmed[name].set()
            else:
                self._change(name)
        elif kind == b"unsubscribe":
            del self._states[name]
            self._change(name)

    def _reset(self) -> None:
        """Reset all states and resubscribe the wanted channels."""
        self._states.clear()
        for confirmed in self._confirmed.values():
            confirmed.clear()
        self._change(*self._confirmed)
