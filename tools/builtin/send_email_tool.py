"""send_email_tool: e-mails the customer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, define, switched_on_by
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.messaging.mail import LONGEST_BODY, LONGEST_SUBJECT, email_repeat, send_email


class EmailArguments(BaseModel):
    """The e-mail, read off the conversation. The recipient is not an argument: it is the customer's own address."""

    subject: str = Field(
        min_length=1,
        max_length=LONGEST_SUBJECT,
        description="The e-mail's subject: one short line in the customer's language.",
    )
    body: str = Field(
        min_length=1,
        max_length=LONGEST_BODY,
        description="The e-mail's whole text as the customer reads it, with the information that the agent promised to send, "
        "in the customer's language, with a greeting and the business's name at the end. Plain text.",
    )


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    email = EmailArguments.model_validate(arguments)
    return await send_email(email.subject, email.body, context)


def repeat_of(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    return email_repeat(str(arguments.get("subject", "")), str(arguments.get("body", "")), context)


TOOL = BuiltinTool(
    name="send_email_tool",
    kind="email",
    delivery=RetryPolicy.ONCE,
    keeps_promise=True,
    gate=switched_on_by("project_attributes_setting_email_send_information_enabled"),
    definition=define(
        "Sends the customer an e-mail with information.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to send an e-mail now.",
        },
    ),
    handler=Handler(execute=execute, arguments=EmailArguments, repeat_of=repeat_of),
)
