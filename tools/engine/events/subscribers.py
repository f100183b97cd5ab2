"""The subscriber of an event. Each event has at most one, which answers for it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import cast
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Now

from projects.common import crypto
from tools.engine.definition import ActionType, ToolDefinition
from tools.engine.execution.schemas import handler_of
from tools.engine.signing_secrets import StoredSecret, valid_secrets
from tools.models import CustomTool, DeliveryState, EventSubscription, SubscriptionTarget


@dataclass(frozen=True)
class Subscriber:
    """A subscription as an event is delivered to it, with its valid signing secrets."""

    id: UUID
    target: SubscriptionTarget
    url: str = ""
    signing: list[str] = field(default_factory=list, repr=False)


def is_delivered(tool: str, definition: ToolDefinition) -> bool:
    """True if the tool sends an event that a subscriber has to receive, rather than a handler of ours."""
    return definition.action.type is ActionType.SEND_EVENT and handler_of(tool, definition) is None


def find_subscription(project_id: UUID, event: str) -> EventSubscription | None:
    """The enabled subscription that names the event, else the one for all events."""
    enabled = EventSubscription.objects.filter(project_id=project_id, is_enabled=True)
    rows = enabled.filter(Q(events__contains=[event]) | Q(events=[])).order_by("created_at", "id")
    return next(iter(sorted(rows, key=lambda row: not row.events)), None)


def find_subscriber(project_id: UUID, event: str) -> Subscriber | None:
    """The event's subscriber. Raises crypto.WrongSecret if its secrets can't be decrypted."""
    row = find_subscription(project_id, event)
    return open_subscriber(row) if row is not None else None


def open_subscriber(row: EventSubscription) -> Subscriber:
    """The subscription with its secrets. Raises crypto.WrongSecret."""
    signing = valid_secrets(read_signing(row)) if row.target == SubscriptionTarget.ENDPOINT else []
    return Subscriber(row.pk, SubscriptionTarget(row.target), row.url, signing)


def without_subscriber(project_id: UUID, events: Iterable[str]) -> set[str]:
    """The events that nobody is subscribed to."""
    return {event for event in events if find_subscription(project_id, event) is None}


def named_events(project_id: UUID) -> set[str]:
    """The events that a subscription or an event tool of the project names, except those of disabled ones."""
    subscriptions = EventSubscription.objects.filter(project_id=project_id, is_enabled=True)
    subscribed = {event for events in subscriptions.values_list("events", flat=True) for event in events}
    return subscribed | set(event_tools(project_id))


def event_tools(project_id: UUID, *, names: Collection[str] | None = None) -> dict[str, CustomTool]:
    """The project's enabled custom tools that send an event to a subscriber, by name."""
    rows = CustomTool.objects.filter(project_id=project_id, is_enabled=True, is_removed=False).order_by("name")
    chosen = rows if names is None else rows.filter(name__in=names)
    return {row.name: row for row in chosen if is_delivered(row.name, ToolDefinition.model_validate(row.definition))}


def record_delivery(subscription_id: UUID, *, event: str, state: DeliveryState, error: str) -> None:
    """Store the result of an attempt on the subscription, for staff."""
    EventSubscription.objects.filter(pk=subscription_id).update(
        last_event=event, last_state=state, last_error=error[:500], last_attempt_at=Now()
    )


def read_signing(row: EventSubscription) -> list[StoredSecret]:
    """The stored signing secrets, newest first. Raises crypto.WrongSecret."""
    if not row.secrets:
        return []
    text = crypto.decrypt(row.secrets, organization_id=cast(UUID, row.organization_id), field=secrets_field(row))
    stored: list[StoredSecret] = json.loads(text)
    return stored


def secrets_field(row: EventSubscription) -> str:
    """The name that the encryption binds the secrets to."""
    return f"event_subscription:{row.pk}"
