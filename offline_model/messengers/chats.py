"""Chats of the offline messengers: what the customer and the business wrote."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from offline_model.messengers.files import SentFile

MOST_CHATS, MOST_BUBBLES = 500, 200
TELEGRAM, TWILIO, WHATSAPP = "telegram", "twilio", "whatsapp"
# They must not repeat after a restart.
_numbers = count(int(time.time()))


def next_number() -> int:
    return next(_numbers)


@dataclass(frozen=True)
class Line:
    """A customer's phone at an account of the business. `secret` signs the webhooks, which go to `webhook`.

    `account` is the bot's id, the account's SID or the number's id; `number` is what the customer writes to.
    """

    kind: str
    account: str
    webhook: str
    secret: str = field(repr=False)
    customer: str
    number: str = ""
    name: str = ""


@dataclass
class Bubble:
    """A message as the customer sees it. `is_reported` once Meta's webhook was told how far it came."""

    id: str
    text: str
    is_mine: bool
    buttons: tuple[dict[str, str], ...] = ()
    file: SentFile | None = None
    at: float = field(default_factory=time.time)
    is_reported: bool = False
    is_read: bool = False

    @property
    def document(self) -> dict[str, Any]:
        file = self.file.document if self.file else None
        own = {"id": self.id, "text": self.text, "mine": self.is_mine, "buttons": [*self.buttons], "at": self.at}
        return {**own, "file": file}


@dataclass
class Chat:
    """One customer's chat with an account. What goes to a customer who is out of reach fails.

    `line` is what the customer's phone told last. Meta's API names neither the webhook nor what signs it.
    """

    bubbles: list[Bubble] = field(default_factory=list)
    is_reachable: bool = True
    line: Line | None = None

    def add(self, bubble: Bubble) -> Bubble:
        self.bubbles = [*self.bubbles[-MOST_BUBBLES + 1 :], bubble]
        return bubble


class Chats:
    """All chats; the oldest are forgotten."""

    def __init__(self) -> None:
        self._chats: OrderedDict[tuple[str, str, str], Chat] = OrderedDict()

    def of(self, kind: str, account: str, customer: str) -> Chat:
        """The chat with a customer, whose number may be written in any form."""
        key = (kind, account, digits(customer))
        chat = self._chats.setdefault(key, Chat())
        self._chats.move_to_end(key)
        while len(self._chats) > MOST_CHATS:
            self._chats.popitem(last=False)
        return chat


def digits(number: str) -> str:
    return "".join(one for one in number if one.isdigit())


def new_id(kind: str) -> str:
    """An id of a message in the provider's form."""
    if kind == TWILIO:
        return f"SM{secrets.token_hex(16)}"
    return f"wamid.{secrets.token_hex(12)}" if kind == WHATSAPP else str(next_number())
