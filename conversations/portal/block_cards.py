"""Cards: the blocks of a reply as the portal shows them. Unknown block types are dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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
