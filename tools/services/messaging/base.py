"""The interface of every service that carries a message to a customer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from tools.engine.execution.outcome import Outcome

Message = TypeVar("Message", contravariant=True)
LONGEST_EXCERPT = 8_000


@dataclass(frozen=True)
class Sms:
    """A text message. `to` is a number in E.164."""

    to: str
    text: str


@dataclass(frozen=True)
class Email:
    """An e-mail in plain text. `to` is one address, `name` whose it is."""

    to: str
    subject: str
    body: str
    name: str = ""


class Channel(Protocol[Message]):
    """Carries one kind of message. `name` is what the ledger calls it."""

    name: str

    async def send(self, message: Message, *, key: str) -> Outcome:
        """Send it once, outside of any transaction. `key` is the effect's, the same at every attempt.

        Every foreseen end is an Outcome; a refused sign-in is one whose result holds `needs_reauth` (F17).
        """
        ...


def refused_sign_in(error: str, **details: Any) -> Outcome:
    """The service knows us no more: nothing was sent, and staff has to connect it again (F17)."""
    return Outcome.failed(error, result={"needs_reauth": True}, **details)


def needs_reauth(outcome: Outcome) -> bool:
    """Whether the service refused the sign-in."""
    return outcome.result.get("needs_reauth") is True
