"""What a customer gets to see of the live stream: what was said and shown, and that something goes on. Nothing of how."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any

from conversations.live.stream import Frame, Frames

# A stream ends after this long, and its client resumes it: whoever was let in is looked at anew.
LONGEST_SECONDS = 15 * 60


async def for_customer(stream: Frames) -> AsyncIterator[bytes]:
    """The stream, filtered to what a customer may see."""
    ends_at = time.monotonic() + LONGEST_SECONDS
    async with aclosing(stream):
        async for frames in stream:
            if shown := b"".join(frame.encode() for frame in filter(None, map(_shown, frames))):
                yield shown
            if time.monotonic() > ends_at:
                return


def _shown(frame: Frame) -> Frame | None:
    """Tokens and comments pass unchanged; of the events, only those in `SHOWN`, cut down to their fields there."""
    if frame.event in ("", "token"):
        return frame
    look = SHOWN.get(frame.event)
    return frame._replace(data=look(frame.data)) if look else None


def message_shown(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of the API as the customer sees it; the product's own tell of colleagues who come and go."""
    return {**_only(message, MESSAGE), "blocks": [_block_shown(block) for block in message["blocks"]]}


def _block_shown(block: Mapping[str, Any]) -> dict[str, Any]:
    """Why the agent shows something is for colleagues, in the agent's words about the customer."""
    return {name: value for name, value in block.items() if name != "reason"}


MESSAGE = ("id", "seq", "role", "author", "content", "blocks", "turn", "created_at")


def _snapshot_shown(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    writing = snapshot["writing"]
    return {
        "messages": [message_shown(message) for message in snapshot["messages"]],
        "last_seq": snapshot["last_seq"],
        "waiting": bool(snapshot["conversation"]["waiting"]),
        "writing": writing and {**writing, "blocks": [_block_shown(block) for block in writing["blocks"]]},
    }


def _only(payload: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: payload[name] for name in names if name in payload}


SHOWN: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "reset": _snapshot_shown,
    "message": message_shown,
    "tool_call": lambda payload: _only(payload, ("turn", "tool")),
    "block": lambda payload: {"turn": payload["turn"], "block": _block_shown(payload["block"])},
    "turn": lambda payload: _only(payload, ("turn", "status", "superseded_by")),
    "waiting": lambda payload: _only(payload, ("waiting",)),
    "done": lambda payload: _only(payload, ("turn", "status")),
    "begun": lambda payload: _only(payload, ("chat",)),
}
