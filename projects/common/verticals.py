"""Verticals: kinds of business, and the capabilities of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from projects.common.translation import lazy


class Capability(StrEnum):
    """An ability of an agent that depends on the vertical; a tool requires at most one."""

    TICKET_ESCALATION = "ticket_escalation"
    ORDER_STATUS = "order_status"
    TICKETING = "ticketing"
    KB_ARTICLE_CARD = "kb_article_card"


@dataclass(frozen=True)
class Vertical:
    """A preset of capabilities. All of them include handing over to a person."""

    name: str
    title: str
    capabilities: frozenset[Capability]


def _preset(name: str, title: str, *more: Capability) -> Vertical:
    return Vertical(name, title, frozenset({Capability.TICKET_ESCALATION, *more}))


VERTICALS: Mapping[str, Vertical] = {
    vertical.name: vertical
    for vertical in (
        _preset("generic", lazy("Any business")),
        _preset("ecommerce", lazy("Online shop"), Capability.ORDER_STATUS),
        _preset(
            "help_center",
            lazy("Help center"),
            Capability.TICKETING,
            Capability.KB_ARTICLE_CARD,
        ),
        _preset("bookings", lazy("Bookings")),
        _preset(
            "ecommerce_help_center",
            lazy("Online shop with a help center"),
            Capability.ORDER_STATUS,
            Capability.TICKETING,
            Capability.KB_ARTICLE_CARD,
        ),
        _preset(
            "healthcare",
            lazy("Healthcare"),
            Capability.TICKETING,
        ),
    )
}
