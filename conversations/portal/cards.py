"""The messages of the customer's page: words, blocks as cards, and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from conversations.common.file_lines import words_of
from conversations.common.presenters import message_payload
from conversations.models import Message

MOST_LINES = 10


@dataclass(frozen=True)
class Card:
    """One block: a title, the lines below it, a link, and the request for a person made by its button.

    `word` names the page's own title for a block without one.
    """

    title: str = ""
    lines: tuple[str, ...] = ()
    url: str = ""
    escalation: str = ""
    word: str = ""


def build_cards(blocks: Iterable[Mapping[str, Any]]) -> list[Card]:
    """The cards of a message, in block order."""
    looks = ((CARDS.get(str(block.get("type"))), block) for block in blocks)
    return [look(block) for look, block in looks if look is not None]


def _article(block: Mapping[str, Any]) -> Card:
    url = str(block.get("url", ""))
    safe = url if url.startswith(("https://", "http://")) else ""
    return Card(str(block.get("title", "")), (str(block.get("excerpt", "")),), url=safe)


def _orders(block: Mapping[str, Any]) -> Card:
    orders = block.get("orders") or []
    lines = (f"{one.get('number')}: {one.get('status')}, {one.get('total')}" for one in orders[:MOST_LINES])
    return Card(lines=tuple(lines), word="orders")


def _person(block: Mapping[str, Any]) -> Card:
    return Card(str(block.get("label", "")), escalation=str(block.get("escalation", "")))


CARDS: Mapping[str, Callable[[Mapping[str, Any]], Card]] = {
    "article_card": _article,
    "order_list": _orders,
    "escalation_button": _person,
}


@dataclass(frozen=True)
class ShownFile:
    """A file of a message. `path` is its address on the page's own host, whichever name that has."""

    name: str
    path: str
    is_picture: bool


@dataclass(frozen=True)
class PortalMessage:
    """One message on the page."""

    message: Message
    cards: Sequence[Card]

    @property
    def words(self) -> str:
        """The words that were said, without the lines of files."""
        return words_of(self.message.content, [file["name"] for file in self.message.attachments])

    @property
    def files(self) -> Sequence[ShownFile]:
        """The files that were sent with it."""
        if not self.message.attachments:
            return ()
        return [
            ShownFile(file["name"], urlsplit(file["url"]).path, file["content_type"].startswith("image/"))
            for file in message_payload(self.message)["attachments"]
        ]
