"""E-mails to the customer: the recipient is their own address, whatever a model says (threat 8)."""

from __future__ import annotations

from tools.execution.handler import Occasion
from tools.execution.outcome import Outcome

LONGEST_SUBJECT = 200
LONGEST_BODY = 20_000


async def send_email(subject: str, body: str, occasion: Occasion) -> Outcome:
    """Write to the customer of the occasion."""
    raise NotImplementedError


def email_repeat(subject: str, body: str, occasion: Occasion) -> str | None:
    """The same words to the same address are a repeat."""
    raise NotImplementedError
