"""The outbox: keeps messages while no service is connected. Nothing is sent."""

from __future__ import annotations

from dataclasses import asdict

from tools.engine.execution.outcome import Outcome
from tools.models.effect import OUTBOX
from tools.services.messaging.base import Email, Sms

NAME = OUTBOX


class Outbox:
    """A channel for every message type that stores it in the ledger and says so."""

    name = NAME

    async def send(self, message: Sms | Email, *, key: str) -> Outcome:
        """Return a done outcome whose result holds the message exactly as it would have been sent."""
        what = "text message" if isinstance(message, Sms) else "e-mail"
        fields = asdict(message)
        told = (
            f"Test mode: no service for this is connected, so the {what} to {message.to} was written to the outbox, "
            "and nothing has left. Do not say that it was sent."
        )
        return Outcome.done(told, result={"outbox": True, "message": fields}, request=fields, adapter=self.name)
