"""Text messages to the customer: the recipient is their own number, whatever a model says (threat 8)."""

from __future__ import annotations

from tools.execution.handler import Occasion
from tools.execution.outcome import Outcome


LONGEST_TEXT = 1_600


async def send_sms(text: str, occasion: Occasion) -> Outcome:
    """Text the customer of the occasion."""
    raise NotImplementedError


def sms_repeat(text: str, occasion: Occasion) -> str | None:
    """The same text to the same number is a repeat, whichever tool sends it."""
    raise NotImplementedError
