"""transfer_call_tool: hands a call to a person, the source's CAActionCallTransferFlow, on the phone only (N27, T21)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from projects.attributes import resolve_attributes
from projects.models import Project
from projects.tenancy import tenant_tx
from projects.threads import in_db
from tools.builtin.base import Attributes, BuiltinTool, Delivery, Moment, define, switched_on_by
from tools.execution.handler import Handler, Occasion
from tools.execution.outcome import Outcome, Signal
from tools.integrations.transfers import TRANSFER_NUMBERS, TransferNumber, choose_number, read_numbers

SWITCH = "project_attributes_setting_transfer_call_enabled"
NO_NUMBER = "The call can't be transferred: this business has set up no number for it. Offer to take a message instead."


class TransferArguments(BaseModel):
    """Whom the call goes to, by the name that the business gave the number. A model never supplies a number (L07)."""

    to: str = Field(
        max_length=80,
        description="The person or department that the caller is put through to, in the words of the conversation; "
        "empty when nobody in particular was named.",
    )


async def carry_out(arguments: Mapping[str, Any], occasion: Occasion) -> Outcome:
    """The channel obeys the signal, in the transaction that stores this outcome (F18)."""
    numbers = await in_db(_numbers, occasion)
    if not numbers:
        return Outcome.failed(NO_NUMBER, told=NO_NUMBER)
    chosen = choose_number(numbers, TransferArguments.model_validate(arguments).to)
    result = {"transferred": True, "to": chosen.name, "number": chosen.number}
    told = f"The caller is being put through to {chosen.name or chosen.number}."
    return Outcome.done(told, result=result, signal=Signal.TRANSFER, adapter="makegood")


def transfer(attributes: Attributes, channel: str) -> str:
    """Open when switched on, in a phone conversation."""
    return switched_on_by(SWITCH)(attributes, channel) or (
        "" if channel == "phone" else f"phone only, this is {channel}"
    )


def _numbers(occasion: Occasion) -> Sequence[TransferNumber]:
    with tenant_tx(occasion.organization_id):
        project = Project.objects.select_related("agent_version").get(pk=occasion.project_id)
        found = resolve_attributes(project).get(TRANSFER_NUMBERS)
        config = project.agent_version.config if project.agent_version else None
        return read_numbers(found.value if found else None, region=config.region if config else "US")


TOOL = BuiltinTool(
    name="transfer_call_tool",
    kind="transfer",
    # Nothing leaves: the signal is obeyed in the transaction that stores the outcome, so trying again is safe.
    delivery=Delivery.IDEMPOTENT,
    gate=transfer,
    definition=define(
        "Transfers the running call to a person.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to transfer or connect the caller, or put them through to a person now.",
        },
    ),
    handler=Handler(carry_out=carry_out, arguments=TransferArguments),
    moments=(Moment.AFTER_TURN,),
)
