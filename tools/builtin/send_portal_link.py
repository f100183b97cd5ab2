"""send_portal_link: texts the caller the link of their own page (F11, D25)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.builtin.base import BuiltinTool, Delivery, Moment, always, define
from tools.execution.handler import Handler, Occasion
from tools.execution.outcome import Outcome
from tools.integrations.sms import NO_PHONE, send_sms, sms_repeat
from tools.portal_links import PortalPlace, portal_url

# Repeats are compared before the link is made: every link to a page is the same to the customer.
SUBJECT = "portal link"


async def carry_out(arguments: Mapping[str, Any], occasion: Occasion) -> Outcome:
    """The link goes to the caller's own number, whatever a model says."""
    if occasion.contact is None or not occasion.contact.phone:
        return Outcome.failed(NO_PHONE, told=NO_PHONE)
    link = portal_url(PortalPlace(occasion.organization_id, occasion.contact.persona_id))
    outcome = await send_sms(f"{occasion.business}: {link}".removeprefix(": "), occasion)
    # What opens the page is for the customer alone: a model reads that it was sent, and not the link.
    return outcome.retold("The link to their page was sent to the caller by text message.")


def repeat_of(arguments: Mapping[str, Any], occasion: Occasion) -> str | None:
    return sms_repeat(SUBJECT, occasion)


TOOL = BuiltinTool(
    name="send_portal_link",
    kind="sms",
    delivery=Delivery.ONCE,
    gate=always,
    definition=define(
        "Texts the caller a link to their own page: what was said, their bookings, and a chat to go on in writing."
    ),
    handler=Handler(carry_out=carry_out, repeat_of=repeat_of),
    moments=(Moment.TURN, Moment.LIVE),
    channels=("phone",),
    category="phone",
)
