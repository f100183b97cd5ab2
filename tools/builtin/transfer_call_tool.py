"""transfer_call_tool: transfers a phone call to a person (`CAActionCallTransferFlow`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from tenancy.threads import in_db
from tools.engine.builtin_tool import BuiltinTool, BusinessState, RetryPolicy, Trigger, define, switched_on_by
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome, Signal
from tools.engine.transfers import choose_number, numbers_of, transfer_repeat

SWITCH = "project_attributes_setting_transfer_call_enabled"
NO_NUMBER = "The call can't be transferred: this business has set up no number for it. Offer to take a message instead."
NOBODY = "The call wasn't transferred: no number is called “{wanted}”. Ask which of these the caller wants: {names}."


class TransferArguments(BaseModel):
    """The destination, by the name that the business gave the number. The model never supplies a number."""

    to: str = Field(
        max_length=80,
        description="The person or department that the caller is put through to, in the words of the conversation; "
        "empty when nobody in particular was named.",
    )


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """The channel obeys the signal in the transaction that stores this outcome."""
    numbers = await in_db(numbers_of, context)
    if not numbers:
        return Outcome.failed(NO_NUMBER, told=NO_NUMBER)
    wanted = TransferArguments.model_validate(arguments).to
    chosen = choose_number(numbers, wanted)
    if chosen is None:
        refusal = NOBODY.format(wanted=wanted, names=", ".join(one.name or one.number for one in numbers))
        return Outcome.failed(refusal, told=refusal)
    result = {"transferred": True, "to": chosen.name, "number": chosen.number}
    told = f"The caller is being put through to {chosen.name or chosen.number}."
    return Outcome.done(told, result=result, signal=Signal.TRANSFER, adapter="makegood")


def transfer(state: BusinessState) -> str:
    """Open if switched on, in phone conversations only."""
    return switched_on_by(SWITCH)(state) or ("" if state.channel == "phone" else f"phone only, this is {state.channel}")


TOOL = BuiltinTool(
    name="transfer_call_tool",
    kind="transfer",
    # No request is sent: the signal takes effect in the transaction that stores the outcome, so retries are safe.
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=True,
    gate=transfer,
    definition=define(
        "Transfers the running call to a person.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to transfer or connect the caller, or put them through to a person now.",
        },
    ),
    handler=Handler(execute=execute, arguments=TransferArguments, repeat_of=transfer_repeat),
    moments=(Trigger.COMMITMENT,),
)
