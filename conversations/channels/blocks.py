"""Blocks of a reply as a messenger shows them: lines below the text, and buttons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext, override

from conversations.channels.provider import Button
from conversations.common.translations import language_of
from conversations.models import Conversation

PERSON = "person:"
ARTICLE, ORDERS, ESCALATION = "article_card", "order_list", "escalation_button"
SHOWN = frozenset({ARTICLE, ORDERS, ESCALATION})
MOST_ORDERS = 10


@dataclass(frozen=True)
class ShownBlocks:
    """The blocks of one message. `ask` introduces numbered choices, `choose` opens a list of them."""

    lines: Sequence[str] = ()
    buttons: Sequence[Button] = ()
    ask: str = ""
    choose: str = ""

    @property
    def numbered(self) -> str:
        """The choices as text, for a channel without buttons."""
        return "\n".join((self.ask, *(f"{number}. {one.label}" for number, one in enumerate(self.buttons, start=1))))


NO_BLOCKS = ShownBlocks()


def show_blocks(blocks: Sequence[Mapping[str, Any]], conversation: Conversation) -> ShownBlocks:
    """The blocks in the customer's language. Unknown ones are left out."""
    known = [block for block in blocks if block.get("type") in SHOWN]
    if not known:
        return NO_BLOCKS
    with override(language_of(conversation.persona_id, project_id=conversation.project_id)):
        lines = [line for block in known for line in _lines(block)]
        buttons = [Button(gettext("Talk to a person"), f"{PERSON}{id}") for id in _people(known)]
        return ShownBlocks(lines, buttons, ask=gettext("Reply with the number:"), choose=gettext("Choose"))


def person_of(choice: str) -> UUID | None:
    """The request for a person that a pressed button makes, or None for another button."""
    try:
        return UUID(choice.removeprefix(PERSON)) if choice.startswith(PERSON) else None
    except ValueError:
        return None


def _people(blocks: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(block.get("escalation")) for block in blocks if block["type"] == ESCALATION]


def _lines(block: Mapping[str, Any]) -> list[str]:
    if block["type"] == ARTICLE:
        return [f"{block.get('title', '')}\n{block.get('url', '')}".strip()]
    if block["type"] == ORDERS:
        return [_order(one) for one in (block.get("orders") or [])[:MOST_ORDERS]]
    return []


def _order(order: Mapping[str, Any]) -> str:
    """A line for the order, and one for each parcel that can be followed."""
    told = (order.get("number"), order.get("status_label") or order.get("status"), order.get("total"))
    links = [str(parcel.get("url") or parcel.get("number") or "") for parcel in order.get("tracking") or []]
    return "\n".join((" · ".join(str(one) for one in told if one), *filter(None, links)))
