"""send_sms_tool: texts the customer (`CAActionSendSMSInformationFlow`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, define, switched_on_by
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.messaging.sms import LONGEST_TEXT, send_sms, sms_repeat


class SmsArguments(BaseModel):
    """The text, read off the conversation. The recipient is not an argument: it is the customer's own number."""

    text: str = Field(
        min_length=1,
        max_length=LONGEST_TEXT,
        description="The whole text message as the customer reads it, with the information that the agent promised to send, "
        "in the customer's language. Plain text, as short as it can be, at most 300 characters.",
    )


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    return await send_sms(SmsArguments.model_validate(arguments).text, context)


def repeat_of(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    return sms_repeat(str(arguments.get("text", "")), context)


TOOL = BuiltinTool(
    name="send_sms_tool",
    kind="sms",
    delivery=RetryPolicy.ONCE,
    keeps_promise=True,
    gate=switched_on_by("project_attributes_setting_sms_send_information_enabled"),
    definition=define(
        "Sends the customer a text message (SMS) with information.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to send a text message or SMS now.",
            "notRelatedToExistingBooking": "The answer is not about viewing, changing or cancelling a booking that exists already.",
        },
        tag="sms",
    ),
    handler=Handler(execute=execute, arguments=SmsArguments, repeat_of=repeat_of),
)
