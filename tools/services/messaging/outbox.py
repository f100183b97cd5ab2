"""The outbox: what would have been sent, while no service is connected. Nothing leaves."""

from __future__ import annotations

from dataclasses import asdict

from tools.engine.execution.outcome import Outcome
from tools.services.messaging.base import Email, Sms

NAME = "outbox"


class Outbox:
    """A channel for every kind of message that keeps it in the ledger, and says so."""

    name = NAME

    async def send(self, message: Sms | Email, *, key: str) -> Outcome:
        """Done, as far as it goes: the effect's result holds the message exactly as it would have been sent."""
        what = "text message" if isinstance(message, Sms) else "e-mail"
        kept = asdict(message)
        told = (
            f"Test mode: no service for this is connected, so the {what} to {message.to} was written to the outbox, "
            "and nothing has left. Do not say that it was sent."
        )
        return Outcome.done(told, result={"outbox": True, "message": kept}, request=kept, adapter=self.name)
