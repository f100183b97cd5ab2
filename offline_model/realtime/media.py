"""Media of a browser's call: a real WebRTC peer that sends silence and drops what it hears.

Needs aiortc, which only the tests install.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

GONE = frozenset({"failed", "closed"})


class NoMedia(RuntimeError):
    """This provider has no WebRTC. Install aiortc."""


class Peer:
    """The provider's end of a browser's audio. `on_gone` is called when the browser is gone."""

    def __init__(self, on_gone: Callable[[], Awaitable[None]]) -> None:
        try:
            from aiortc import RTCPeerConnection
            from aiortc.contrib.media import MediaBlackhole
        except ImportError:
            raise NoMedia(NoMedia.__doc__) from None
        self._connection: Any = RTCPeerConnection()
        self._heard: Any = MediaBlackhole()
        self._on_gone = on_gone
        self._was_connected = False
        self._connection.on("track", self._heard.addTrack)
        self._connection.on("connectionstatechange", self._on_change)

    @property
    def state(self) -> str:
        """The state of the connection: `connected` once DTLS is established."""
        return str(self._connection.connectionState)

    async def answer(self, offer: str) -> str:
        """The SDP answer to a browser's offer. Raises ValueError."""
        from aiortc import AudioStreamTrack, RTCSessionDescription

        await self._connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
        self._connection.addTrack(AudioStreamTrack())
        await self._connection.setLocalDescription(await self._connection.createAnswer())
        await self._heard.start()
        return str(self._connection.localDescription.sdp)

    async def close(self) -> None:
        """Hang up."""
        await self._heard.stop()
        await self._connection.close()

    async def _on_change(self) -> None:
        self._was_connected = self._was_connected or self.state == "connected"
        if self._was_connected and self.state in GONE:
            await self._on_gone()
