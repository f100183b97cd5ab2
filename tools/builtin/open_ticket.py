"""open_ticket: opens a support ticket for an issue that outlives the conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field

from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.builtin_tool import BuiltinTool, Capability, RetryPolicy, Trigger, always, define
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.models import Ticket
from tools.services.support.tickets import LONGEST_BODY, LONGEST_SUBJECT, open_ticket


class TicketArguments(BaseModel):
    """A ticket for staff."""

    subject: str = Field(
        min_length=1, max_length=LONGEST_SUBJECT, description="The matter in one line, at most 120 characters."
    )
    body: str = Field(
        min_length=1,
        max_length=LONGEST_BODY,
        description="What happened, what the customer wants, and every detail they gave.",
    )
    priority: Literal["low", "normal", "high", "urgent"] = Field(
        default="normal", description="How pressing it is; urgent only for loss, danger or a deadline of today."
    )


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """Open the ticket. An effect opens only one, so retries are safe."""
    ticket = await in_db(_open, TicketArguments.model_validate(arguments), context)
    result = {"ticket": str(ticket.pk), "number": ticket.number, "priority": ticket.priority}
    told = f"Ticket #{ticket.number} is open: {ticket.subject}. A colleague looks after it."
    return Outcome.done(told, result=result, adapter="makegood")


def _subject(arguments: Mapping[str, Any], context: ToolContext) -> str:
    """Identify repeats: the same subject in the same conversation."""
    return " ".join(str(arguments.get("subject", "")).casefold().split())


def _open(arguments: TicketArguments, context: ToolContext) -> Ticket:
    with tenant_tx(context.organization_id):
        return open_ticket(
            context.project_id,
            subject=arguments.subject,
            body=arguments.body,
            priority=arguments.priority,
            conversation_id=context.conversation_id,
            persona_id=context.contact.persona_id if context.contact else None,
            effect_id=context.effect_id,
        )


TOOL = BuiltinTool(
    name="open_ticket",
    kind="ticket",
    # No request is sent, and the effect's id is stored on the ticket.
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=True,
    gate=always,
    definition=define(
        "Opens a support ticket for what can't be settled in this conversation: a disputed charge, trouble with an "
        "account, a fault, a complaint. Tell the customer its number."
    ),
    handler=Handler(execute=execute, arguments=TicketArguments, repeat_of=_subject),
    moments=(Trigger.TURN, Trigger.LIVE),
    capability=Capability.TICKETING,
    category="people",
)
