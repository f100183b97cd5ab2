"""Shapes of erasures in the API."""

from __future__ import annotations

from typing import Annotated, TypedDict

from privacy.models import Erasure, ErasureState
from projects.common.presenters import Id, Stamp, stamp


class RemovedPayload(TypedDict):
    """The number of records that were removed so far. `effects` and `model_calls` were emptied, and stay as proof and as a
    figure.
    """

    conversations: int
    messages: int
    attachments: int
    promises: int
    bookings: int
    todos: int
    tickets: int
    effects: int
    model_calls: int


class ErasurePayload(TypedDict):
    """An erasure. It names nobody. `waits_for` says why it can't go on yet. `left` are events in the connected calendar
    that could not be rewritten: remove them there.
    """

    id: Id
    status: Annotated[str, ErasureState]
    requested_by: str
    waits_for: str
    removed: RemovedPayload
    left: list[str]
    created_at: Stamp
    finished_at: Stamp | None


def erasure_payload(erasure: Erasure) -> ErasurePayload:
    count = erasure.removed.get
    return {
        "id": str(erasure.pk),
        "status": erasure.state,
        "requested_by": erasure.requested_by,
        "waits_for": erasure.waits_for,
        "removed": {
            "conversations": count("conversations", 0),
            "messages": count("messages", 0),
            "attachments": count("attachments", 0),
            "promises": count("promises", 0),
            "bookings": count("bookings", 0),
            "todos": count("todos", 0),
            "tickets": count("tickets", 0),
            "effects": count("effects", 0),
            "model_calls": count("model_calls", 0),
        },
        "left": list(erasure.left),
        "created_at": stamp(erasure.created_at),
        "finished_at": stamp(erasure.finished_at) if erasure.finished_at else None,
    }
