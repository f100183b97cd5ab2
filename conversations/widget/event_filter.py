"""Filters the live stream to what a customer may see: messages, blocks and progress, but no internals."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any

from conversations.live.stream import Frame, Frames

# A stream ends after this long and the client reconnects, which authenticates it again.
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
    """Pass tokens and comments unchanged, and events in `SHOWN` reduced to their visible fields; drop the rest."""
    if frame.event in ("", "token"):
        return frame
    look = SHOWN.get(frame.event)
    return frame._replace(data=look(frame.data)) if look else None


def message_shown(message: Mapping[str, Any]) -> dict[str, Any]:
    """An API message reduced to the fields a customer may see."""
    return {**_only(message, MESSAGE), "blocks": [_block_shown(block) for block in message["blocks"]]}


def _block_shown(block: Mapping[str, Any]) -> dict[str, Any]:
    """The block without `reason`, which is the agent's note about the customer for staff."""
    return {name: value for name, value in block.items() if name != "reason"}


MESSAGE = ("id", "seq", "role", "author", "content", "blocks", "attachments", "turn", "created_at")


def _snapshot_shown(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    writing = snapshot["writing"]
    return {
        "messages": [message_shown(message) for message in snapshot["messages"]],
        "last_seq": snapshot["last_seq"],
        "waiting": bool(snapshot["conversation"]["waiting"]),
        "over": snapshot["over"],
        "rating": snapshot["conversation"]["rating"],
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
    "over": lambda payload: _only(payload, ("over",)),
    "done": lambda payload: _only(payload, ("turn", "status")),
    "begun": lambda payload: _only(payload, ("chat",)),
}
