"""transfer_call: transfers the call to one of the business's numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from tenancy.threads import in_db
from tools.engine.builtin_tool import BuiltinTool, BusinessState, RetryPolicy, Trigger, define
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome, Signal
from tools.engine.gates import escalated_when, needs_numbers
from tools.engine.transfers import TransferNumber, numbers_of, transfer_repeat

NOT_OURS = "The call wasn't transferred: {number} is none of the numbers that this business puts callers through to."


class TransferArguments(BaseModel):
    """The destination. The model's schema lists the available numbers; nothing else is dialed."""

    phone_number: str = Field(max_length=20, description="The number the call goes to.")


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """The channel obeys the signal. The number is checked again, because the list may have changed since the call was
    planned.
    """
    number = TransferArguments.model_validate(arguments).phone_number
    numbers = await in_db(numbers_of, context)
    chosen = next((one for one in numbers if one.number == number), None)
    if chosen is None:
        refusal = NOT_OURS.format(number=number)
        return Outcome.failed(refusal, told=refusal)
    result = {"transferred": True, "to": chosen.name, "number": chosen.number}
    told = f"The caller is being put through to {chosen.name or chosen.number}."
    return Outcome.done(told, result=result, signal=Signal.TRANSFER, adapter="makegood")


def restrict_to_numbers(parameters: Mapping[str, Any], state: BusinessState) -> Mapping[str, Any]:
    """Restrict the schema to the available numbers, and describe them."""
    field = dict(parameters["properties"]["phone_number"])
    field["enum"] = list(dict.fromkeys(one.number for one in state.transfer_numbers))
    if names := _names(state.transfer_numbers):
        field["description"] = f"{field.get('description', '')} {names}".strip()
    return {**parameters, "properties": {**parameters["properties"], "phone_number": field}}


def _names(numbers: Sequence[TransferNumber]) -> str:
    names = [f"{one.number} is {one.name}" for one in numbers if one.name]
    return f"{', '.join(names)}." if names else ""


TOOL = BuiltinTool(
    name="transfer_call",
    kind="transfer",
    # No request is sent: the signal takes effect in the transaction that sends the reply, so retries are safe.
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=True,
    gate=needs_numbers,
    definition=define("Transfers the running call to a person. Say in the same answer to whom."),
    handler=Handler(execute=execute, arguments=TransferArguments, repeat_of=transfer_repeat),
    moments=(Trigger.TURN, Trigger.LIVE),
    channels=("phone",),
    category="phone",
    section="""\
### Transferring the Call
- Ask whether the caller wants to be transferred, and call `transfer_call` only after they have said yes.
- Once it has answered, the call is no longer yours: say nothing more.""",
    narrow=restrict_to_numbers,
    adds=escalated_when("transfer"),
)
