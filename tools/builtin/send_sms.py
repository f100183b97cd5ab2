"""send_sms: texts the customer while the agent replies; same kind of effect as send_sms_tool."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tools.builtin.send_sms_tool import execute, repeat_of
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, define
from tools.engine.execution.handler import Handler
from tools.engine.gates import escalated_when, needs_escalation
from tools.services.messaging.sms import LONGEST_TEXT


class TextArguments(BaseModel):
    """The text. The recipient is not an argument: it is the customer's own number."""

    text: str = Field(
        min_length=1,
        max_length=LONGEST_TEXT,
        description="The whole message in the customer's language: plain text, at most 300 characters.",
    )


TOOL = BuiltinTool(
    name="send_sms",
    kind="sms",
    delivery=RetryPolicy.ONCE,
    keeps_promise=True,
    gate=needs_escalation("message"),
    definition=define("Sends the customer a text message (SMS) at their own number, now."),
    handler=Handler(execute=execute, arguments=TextArguments, repeat_of=repeat_of),
    moments=(Trigger.TURN, Trigger.LIVE),
    category="phone",
    section="""\
### Text Messages
- Call `send_sms` when the customer wants something in writing. It goes to the number that is known of them.""",
    adds=escalated_when("message"),
)
