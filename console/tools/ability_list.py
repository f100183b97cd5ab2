"""The abilities of an agent: built-in tools that do the same thing, as one for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from projects.common.translation import lazy


@dataclass(frozen=True)
class Ability:
    """Tools by the trigger that people know. A tool stands once per trigger that it has."""

    key: str
    title: str
    reply: Sequence[str] = ()
    promise: Sequence[str] = ()
    todo: Sequence[str] = ()

    @property
    def tools(self) -> list[str]:
        """All tools of the ability, without repeats."""
        return list(dict.fromkeys((*self.reply, *self.promise, *self.todo)))


def _both(key: str, title: str, *tools: str, reply: Sequence[str] = (), todo: Sequence[str] = ()) -> Ability:
    """An ability whose tools run after a promise and in todos."""
    return Ability(key, title, reply=reply, promise=tools, todo=(*tools, *todo))


ABILITIES = (
    _both("texts", lazy("Send texts"), "send_sms_tool", reply=("send_sms",)),
    _both("emails", lazy("Send e-mails"), "send_email_tool", todo=("send_email", "send_email_to_caller")),
    _both("availability", lazy("Check availability"), "check_availability_tool", reply=("check_availability",)),
    _both(
        "bookings",
        lazy("Make and find bookings"),
        "create_booking_tool",
        "search_booking_tool",
        reply=("book_appointment", "lookup_appointment"),
    ),
    _both("cancellations", lazy("Cancel bookings"), "cancel_booking_tool", reply=("cancel_appointment",)),
    _both("booking-links", lazy("Send a link to manage a booking"), "send_manage_booking_url_tool"),
    _both("meetings", lazy("Schedule meetings"), "create_meeting_tool"),
    _both("products", lazy("Check products and services"), "check_product_or_service_availability"),
    _both("areas", lazy("Check ZIP codes"), "check_zip_code_served_tool"),
    Ability("transfers", lazy("Transfer calls"), reply=("transfer_call",), promise=("transfer_call_tool",)),
    Ability("people", lazy("Hand over to a person"), reply=("escalate_to_human",)),
    Ability("tickets", lazy("Create tickets"), reply=("open_ticket",)),
    Ability("orders", lazy("Look up orders"), reply=("lookup_order",)),
    Ability("knowledge", lazy("Search the knowledge base"), reply=("search_knowledge", "query_knowledge")),
    Ability("articles", lazy("Show articles"), reply=("send_kb_article",)),
    Ability("portal-links", lazy("Send a link to the portal"), reply=("send_portal_link",)),
    Ability("callers", lazy("Recognize callers"), reply=("lookup_caller",)),
    Ability(
        "verification",
        lazy("Verify customers"),
        reply=("verify_caller", "send_verification_code", "check_verification_code"),
    ),
    Ability("flags", lazy("Flag callers for your team"), reply=("flag_caller",)),
    Ability("endings", lazy("End the conversation"), reply=("end_call",), promise=("end_conversation_tool",)),
)
BY_KEY = {ability.key: ability for ability in ABILITIES}
OF_TOOL = {name: ability for ability in ABILITIES for name in ability.tools}
