"""escalate_to_human: offers the customer a person, whom they request with a button."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.builtin_tool import BuiltinTool, Capability, RetryPolicy, Trigger, always, define, shows_blocks
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.models import Escalation, EscalationState
from tools.services.support.escalations import LONGEST_REASON, make_request, offer_person, person_button
from tools.services.support.notices import notify_operators

OFFERED = "With the button below, a colleague is asked to take over here."
ASKED = "A colleague has been asked to take over and gets back as soon as possible."
HERE = "A colleague has this conversation already and answers here."


class EscalateArguments(BaseModel):
    """The reason for the escalation. The operator is not an argument."""

    reason: str = Field(
        min_length=1,
        max_length=LONGEST_REASON,
        description="What the customer wants of a person, in one sentence that a colleague understands at once.",
    )


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """No request is sent. A second call returns the open escalation, so retries are safe."""
    if context.conversation_id is None:
        return Outcome.failed("Only in a conversation can a person take over.")
    reason = EscalateArguments.model_validate(arguments).reason
    escalation = await in_db(_escalate, context, context.conversation_id, reason)
    result = {"escalation": str(escalation.pk), "state": escalation.state}
    if escalation.state == EscalationState.CLAIMED:
        return Outcome.done(HERE, result=result, adapter="makegood")
    if escalation.state == EscalationState.WAITING:
        return Outcome.done(ASKED, result=result, adapter="makegood")
    return Outcome.done(OFFERED, result=result, block=person_button(escalation), adapter="makegood")


def _escalate(context: ToolContext, conversation_id: UUID, reason: str) -> Escalation:
    with tenant_tx(context.organization_id):
        escalation = offer_person(
            project_id=context.project_id,
            conversation_id=conversation_id,
            turn_id=context.turn_id,
            effect_id=context.effect_id,
            reason=reason,
        )
        # Other channels have no button, so the request is made at once.
        if not shows_blocks(context) and make_request(escalation, {}):
            notify_operators(escalation)
        escalation.refresh_from_db()
        return escalation


TOOL = BuiltinTool(
    name="escalate_to_human",
    kind="escalation",
    # No request is sent, and a conversation has one open escalation.
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=always,
    definition=define(
        "Offers the customer a person, with a button. Call it when the customer asks for a person, or when you can't help."
    ),
    handler=Handler(execute=execute, arguments=EscalateArguments),
    moments=(Trigger.TURN, Trigger.LIVE),
    capability=Capability.TICKET_ESCALATION,
    category="people",
)
