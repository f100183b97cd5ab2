"""Test events for subscribers. They belong to no conversation, so the ledger has no effect for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast
from uuid import UUID, uuid4

from django.utils import timezone

from projects.common.crypto import WrongSecret
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.events.subscribers import Subscriber, open_subscriber, record_delivery
from tools.engine.execution.event_delivery import STATES, UNREADABLE, EventMessage, send_message
from tools.engine.execution.handler import Place, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.models import DeliveryState, EventSubscription, SubscriptionTarget

TEST_EVENT = "test"
READS_STREAM = "Nothing was sent: this subscriber reads the API's stream."


@dataclass(frozen=True)
class TrialEvent:
    """A test event for one subscription, read in its tenant's transaction."""

    organization_id: UUID
    project_id: UUID
    type: str
    subscriber: Subscriber | None = field(repr=False)


@dataclass(frozen=True)
class TrialDelivery:
    """The result of a test event."""

    state: DeliveryState
    http_status: int | None
    error: str


def prepare_test(row: EventSubscription) -> TrialEvent:
    """A test event, named after the first event of the subscription. Runs inside a transaction."""
    events: Sequence[str] = row.events
    try:
        subscriber = open_subscriber(row)
    except WrongSecret:
        subscriber = None
    return TrialEvent(
        organization_id=cast(UUID, row.organization_id),
        project_id=row.project_id,
        type=events[0] if events else TEST_EVENT,
        subscriber=subscriber,
    )


async def send_test_event(test: TrialEvent) -> TrialDelivery:
    """Send a test event and store its result. No transaction may be open, because it can take 10 seconds."""
    if test.subscriber is None:
        return TrialDelivery(DeliveryState.FAILED, None, UNREADABLE)
    if test.subscriber.target is SubscriptionTarget.STREAM:
        return TrialDelivery(DeliveryState.FAILED, None, READS_STREAM)
    message = EventMessage(test.type, timezone.now(), {"test": True, "project": str(test.project_id)})
    outcome = await send_message(test.subscriber, message, _context(test))
    delivery = _delivery_of(outcome)
    await in_db(_record, test, test.subscriber, delivery)
    return delivery


def _context(test: TrialEvent) -> ToolContext:
    effect_id = uuid4()
    place = Place(
        organization_id=test.organization_id,
        project_id=test.project_id,
        conversation_id=None,
        turn_id=None,
        channel="",
        timezone="UTC",
        at=timezone.now(),
        contact=None,
    )
    return place.context(effect_id=effect_id, key=f"test-{effect_id.hex}")


def _delivery_of(outcome: Outcome) -> TrialDelivery:
    state = STATES.get(outcome.ending, DeliveryState.FAILED)
    return TrialDelivery(state, outcome.http_status, outcome.error)


def _record(test: TrialEvent, subscriber: Subscriber, delivery: TrialDelivery) -> None:
    with tenant_tx(test.organization_id):
        record_delivery(subscriber.id, event=test.type, state=delivery.state, error=delivery.error)
