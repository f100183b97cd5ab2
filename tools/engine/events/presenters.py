"""API representations of event subscriptions, without their secrets."""

from __future__ import annotations

from typing import Annotated, TypedDict

from projects.common.presenters import Id, Stamp, stamp
from tools.engine.events.service import SavedSubscription
from tools.models import DeliveryState, EventSubscription, SubscriptionTarget


class LastDeliveryPayload(TypedDict):
    """The last attempt to deliver an event."""

    event: str
    state: Annotated[str, DeliveryState]
    error: str | None
    at: Stamp


class SubscriptionPayload(TypedDict):
    id: Id
    target: Annotated[str, SubscriptionTarget]
    url: Annotated[str | None, "Null for a client of the stream."]
    events: Annotated[list[str], "Empty for all events without a subscriber of their own."]
    enabled: bool
    last_delivery: LastDeliveryPayload | None
    created_at: Stamp
    updated_at: Stamp


class NewSecretPayload(TypedDict, total=False):
    secret: str


class SavedSubscriptionPayload(SubscriptionPayload, NewSecretPayload):
    """`secret` is present only when it has just been created."""


class TrialDeliveryPayload(TypedDict):
    """The result of a test event."""

    state: Annotated[str, DeliveryState]
    http_status: int | None
    error: str | None


def subscription_payload(row: EventSubscription) -> SubscriptionPayload:
    return {
        "id": str(row.pk),
        "target": row.target,
        "url": row.url or None,
        "events": list(row.events),
        "enabled": row.is_enabled,
        "last_delivery": _last_delivery(row),
        "created_at": stamp(row.created_at),
        "updated_at": stamp(row.updated_at),
    }


def saved_payload(saved: SavedSubscription) -> SavedSubscriptionPayload:
    """A saved subscription, with the signing secret if it is new."""
    secret: NewSecretPayload = {"secret": saved.secret} if saved.secret else {}
    return {**subscription_payload(saved.row), **secret}


def _last_delivery(row: EventSubscription) -> LastDeliveryPayload | None:
    if row.last_attempt_at is None:
        return None
    return {
        "event": row.last_event,
        "state": row.last_state,
        "error": row.last_error or None,
        "at": stamp(row.last_attempt_at),
    }
