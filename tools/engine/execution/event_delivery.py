"""The send_event action: one attempt to deliver an event to its subscriber.

An endpoint gets a signed request (Standard Webhooks) and acknowledges with a 2xx status, or with 202 and a later
callback. A client of the API's stream acknowledges over the API. Only an acknowledged event is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from projects.common.crypto import WrongSecret
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.custom.secrets import WebhookSecrets
from tools.engine.definition import WebhookOptions
from tools.engine.events.subscribers import Subscriber, find_subscriber, record_delivery
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.execution.webhook import call_webhook
from tools.models import DeliveryState, Effect, SubscriptionTarget
from tools.models.effect import EVENT_ADAPTER

NOBODY = "Nobody is subscribed to this event."
UNREADABLE = "The subscriber's secret can't be read any more; create a new one."
ACKNOWLEDGED = "It was passed on, and its receipt was acknowledged."
STATES: Mapping[Ending, DeliveryState] = {
    Ending.DONE: DeliveryState.ACKNOWLEDGED,
    Ending.LATER: DeliveryState.ACCEPTED,
}


@dataclass(frozen=True)
class EventMessage:
    """An event as its subscriber reads it: its name, the time it occurred, and its data."""

    type: str
    at: datetime
    data: Mapping[str, Any]

    @property
    def document(self) -> dict[str, Any]:
        return {"type": self.type, "timestamp": self.at.isoformat(), "data": dict(self.data)}


async def deliver_event(effect: Effect, context: ToolContext) -> Outcome:
    """Make one attempt, outside of any transaction. Every attempt of an effect has the same `webhook-id`."""
    try:
        subscriber = await in_db(_find, effect, context.organization_id)
    except WrongSecret:
        return Outcome.failed(UNREADABLE, adapter=EVENT_ADAPTER)
    if subscriber is None:
        return Outcome.failed(NOBODY, adapter=EVENT_ADAPTER)
    outcome = await send_message(subscriber, message_of(effect, context), context)
    await in_db(partial(_record, subscriber, effect.tool, outcome, organization_id=context.organization_id))
    return outcome


async def send_message(subscriber: Subscriber, message: EventMessage, context: ToolContext) -> Outcome:
    """Send one message. A client of the stream is sent nothing; its acknowledgment is awaited."""
    if subscriber.target is SubscriptionTarget.STREAM:
        return Outcome(Ending.LATER, adapter=EVENT_ADAPTER)
    options = WebhookOptions(url=subscriber.url, callback=True)
    secrets = WebhookSecrets(signing=subscriber.signing)
    outcome = await call_webhook(options, {"body": message.document}, context, secrets=secrets)
    return replace(outcome.retold(ACKNOWLEDGED), adapter=EVENT_ADAPTER)


def message_of(effect: Effect, context: ToolContext) -> EventMessage:
    """The message about an effect. It is the same at every attempt."""
    return EventMessage(
        type=effect.tool,
        at=effect.created_at,
        data={
            "effect": str(effect.pk),
            "project": str(effect.project_id),
            "conversation": str(effect.conversation_id) if effect.conversation_id else None,
            "turn": str(effect.turn_id) if effect.turn_id else None,
            "persona": str(context.contact.persona_id) if context.contact else None,
            "channel": context.channel,
            "quote": effect.quote,
            "arguments": effect.arguments,
        },
    )


def _find(effect: Effect, organization_id: UUID) -> Subscriber | None:
    with tenant_tx(organization_id):
        return find_subscriber(effect.project_id, effect.tool)


def _record(subscriber: Subscriber, event: str, outcome: Outcome, *, organization_id: UUID) -> None:
    state = STATES.get(outcome.ending, DeliveryState.FAILED)
    with tenant_tx(organization_id):
        record_delivery(subscriber.id, event=event, state=state, error=outcome.error)
