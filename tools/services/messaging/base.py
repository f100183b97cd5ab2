"""The interface of message channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from tools.engine.execution.outcome import Outcome

Message = TypeVar("Message", contravariant=True)
LONGEST_EXCERPT = 8_000


@dataclass(frozen=True)
class Sms:
    """A text message. `to` is an E.164 number."""

    to: str
    text: str


@dataclass(frozen=True)
class Mms(Sms):
    """A text message with a file at the address `media`."""

    media: str


@dataclass(frozen=True)
class TemplateSms(Sms):
    """A message that Twilio builds from a content of the account, with a value for each of its gaps."""

    content_sid: str
    variables: Mapping[str, str]


@dataclass(frozen=True)
class Email:
    """A plain-text e-mail. `to` is one address, `name` its owner."""

    to: str
    subject: str
    body: str
    name: str = ""


@dataclass(frozen=True)
class EmailFile:
    """A file of an e-mail."""

    name: str
    content_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class EmailReply(Email):
    """An e-mail in a thread, with its `files`. `references` are Message-IDs, oldest first; the last one is answered. One
    that nobody wrote by hand `is_automatic`.
    """

    references: Sequence[str] = ()
    reply_to: str = ""
    is_automatic: bool = True
    files: Sequence[EmailFile] = ()


class Channel(Protocol[Message]):
    """Sends one kind of message. `name` identifies the channel in the ledger."""

    name: str

    async def send(self, message: Message, *, key: str) -> Outcome:
        """Send the message once, outside of any transaction. `key` is the effect's, the same for every attempt.

        Every foreseen result is an Outcome. A rejected sign-in has `needs_reauth` in its result.
        """
        ...


def refused_size(error: str, **details: Any) -> Outcome:
    """Return the outcome of an e-mail that is too large for the mail server: nothing was sent."""
    return Outcome.failed(error, result={"too_large": True}, **details)


def is_too_large(outcome: Outcome) -> bool:
    """Return True if a smaller e-mail may be taken."""
    return outcome.result.get("too_large") is True


def refused_sign_in(error: str, **details: Any) -> Outcome:
    """Return the outcome of a rejected sign-in: nothing was sent, and staff must reconnect the service."""
    return Outcome.failed(error, result={"needs_reauth": True}, **details)


def needs_reauth(outcome: Outcome) -> bool:
    """Return True if the service rejected the sign-in."""
    return outcome.result.get("needs_reauth") is True
