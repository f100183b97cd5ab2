"""E-mails to the customer. The recipient is the customer's own address and never comes from the model."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.engine.words import normalize_words
from tools.services.messaging.base import Email
from tools.services.messaging.channels import deliver

LONGEST_SUBJECT = 200
LONGEST_BODY = 20_000
NO_ADDRESS = (
    "The e-mail wasn't sent: the customer's e-mail address isn't known. Ask for it, and then promise the e-mail again."
)


class EmailArguments(BaseModel):
    """An e-mail written for a todo. The recipient is not an argument."""

    subject: str = Field(
        min_length=1,
        max_length=LONGEST_SUBJECT,
        description="The e-mail's subject: one short line in the reader's language.",
    )
    body: str = Field(
        min_length=1,
        max_length=LONGEST_BODY,
        description="The e-mail's whole text as it is read, complete as it stands, in the reader's language, with a greeting and "
        "the business's name at the end. Plain text.",
    )


async def send_email(subject: str, body: str, context: ToolContext) -> Outcome:
    """E-mail the customer of the context."""
    contact = context.contact
    if contact is None or not contact.email:
        return Outcome.failed(NO_ADDRESS, told=NO_ADDRESS)
    return await deliver(Email(to=contact.email, name=contact.name, subject=subject, body=body), context)


def email_repeat(subject: str, body: str, context: ToolContext) -> str | None:
    """Identify repeats: the same words to the same address."""
    contact = context.contact
    if contact is None or not contact.email:
        return None
    return f"{contact.email.strip().casefold()}\n{normalize_words(subject)}\n{normalize_words(body)}"
