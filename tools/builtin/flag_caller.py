"""flag_caller: records a caller's misconduct for staff, and hangs up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, always, define
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome, Signal
from tools.engine.hooks import flag_customer

LONGEST_REASON = 300


class FlagArguments(BaseModel):
    """The reason that staff reads."""

    reason: str = Field(
        min_length=1,
        max_length=LONGEST_REASON,
        description="What the caller did, in one factual sentence for staff; the caller never hears it.",
    )


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """No request is sent. The channel hangs up when the reply is sent."""
    if context.contact is None:
        return Outcome.failed("Nobody is on the line who could be flagged.")
    reason = FlagArguments.model_validate(arguments).reason
    await in_db(_flag, context, context.contact.persona_id, reason)
    result = {"flagged": True, "flagReason": reason}
    return Outcome.done("The call has ended.", result=result, signal=Signal.END, adapter="makegood")


def _flag(context: ToolContext, persona_id: UUID, reason: str) -> None:
    with tenant_tx(context.organization_id):
        flag_customer(persona_id, reason)


TOOL = BuiltinTool(
    name="flag_caller",
    kind="flag",
    # No request is sent, and a retry writes the same reason again.
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=always,
    definition=define(
        "Flags the caller for staff and ends the call. Only for abuse, threats or obvious nuisance calls. Say goodbye in the "
        "same answer."
    ),
    handler=Handler(execute=execute, arguments=FlagArguments),
    moments=(Trigger.TURN, Trigger.LIVE),
    channels=("phone",),
    category="phone",
)
