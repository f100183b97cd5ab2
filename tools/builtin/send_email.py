"""send_email: e-mails a recipient that the model chooses from the addresses approved with the todo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, always, define
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.engine.words import normalize_words
from tools.services.messaging.base import Email
from tools.services.messaging.channels import deliver
from tools.services.messaging.mail import EmailArguments


class AddressedEmailArguments(EmailArguments):
    """An e-mail with its recipient."""

    to: str = Field(min_length=3, max_length=254, description="The recipient: one of the approved e-mail addresses.")


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """The address was checked against the approved ones when the call was planned."""
    email = AddressedEmailArguments.model_validate(arguments)
    return await deliver(Email(to=email.to.strip(), subject=email.subject, body=email.body), context)


def repeat_of(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    """Identify repeats: the same words to the same address."""
    to, subject, body = (str(arguments.get(name, "")) for name in ("to", "subject", "body"))
    return f"{to.strip().casefold()}\n{normalize_words(subject)}\n{normalize_words(body)}"


TOOL = BuiltinTool(
    name="send_email",
    kind="email",
    delivery=RetryPolicy.ONCE,
    keeps_promise=True,
    gate=always,
    definition=define(
        "Sends an e-mail to one of the recipients that were approved for the todo.",
        conditions={"isApproved": "A colleague has approved the todo that this e-mail is for, with its recipients."},
    ),
    handler=Handler(execute=execute, arguments=AddressedEmailArguments, repeat_of=repeat_of, addressee="to"),
    moments=(Trigger.TASK,),
)
