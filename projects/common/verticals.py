"""What kind of business an agent works for, and the capabilities that come with it (W01-W03)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Capability(StrEnum):
    """Something that an agent of a business may be able to do; a tool asks for at most one."""

    TICKET_ESCALATION = "ticket_escalation"
    ORDER_STATUS = "order_status"
    TICKETING = "ticketing"
    KB_ARTICLE_CARD = "kb_article_card"


@dataclass(frozen=True)
class Vertical:
    """A preset of capabilities. Handing over to a person comes with every one (W03)."""

    name: str
    title: str
    lead: str
    capabilities: frozenset[Capability]


def _preset(name: str, title: str, lead: str, *more: Capability) -> Vertical:
    return Vertical(name, title, lead, frozenset({Capability.TICKET_ESCALATION, *more}))


VERTICALS: Mapping[str, Vertical] = {
    vertical.name: vertical
    for vertical in (
        _preset("generic", "Any business", "Hands over to a person."),
        _preset("ecommerce", "Online shop", "Looks orders up.", Capability.ORDER_STATUS),
        _preset(
            "help_center",
            "Help centre",
            "Opens tickets and shows articles.",
            Capability.TICKETING,
            Capability.KB_ARTICLE_CARD,
        ),
        _preset("bookings", "Bookings", "Books tables, rooms and appointments."),
        _preset(
            "ecommerce_help_center",
            "Online shop with a help centre",
            "Looks orders up, opens tickets and shows articles.",
            Capability.ORDER_STATUS,
            Capability.TICKETING,
            Capability.KB_ARTICLE_CARD,
        ),
        _preset(
            "healthcare", "Healthcare", "Books appointments, and opens tickets for the team.", Capability.TICKETING
        ),
    )
}
