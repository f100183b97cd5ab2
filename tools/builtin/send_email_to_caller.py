"""send_email_to_caller: sends the customer of an approved todo a follow-up e-mail, at their own address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, always, define
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.messaging.mail import EmailArguments, email_repeat, send_email

NO_ADDRESS = "The e-mail wasn't sent: no e-mail address of the caller is known."


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """The recipient is the todo's contact; addresses in the arguments are ignored."""
    if context.contact is None or not context.contact.email:
        return Outcome.failed(NO_ADDRESS, told=NO_ADDRESS)
    email = EmailArguments.model_validate(arguments)
    return await send_email(email.subject, email.body, context)


def repeat_of(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    return email_repeat(str(arguments.get("subject", "")), str(arguments.get("body", "")), context)


TOOL = BuiltinTool(
    name="send_email_to_caller",
    kind="email",
    delivery=RetryPolicy.ONCE,
    keeps_promise=True,
    gate=always,
    definition=define(
        "Sends a follow-up e-mail to the caller, at the address that is known of them.",
        conditions={"isApproved": "A colleague has approved the todo that this e-mail is for."},
    ),
    handler=Handler(execute=execute, arguments=EmailArguments, repeat_of=repeat_of),
    moments=(Trigger.TASK,),
)
